import { expect, test } from "bun:test";
import { coreCases } from "../../javascript/tests/core.js";
import { driverCases } from "../../javascript/tests/drivers.js";
import { host } from "../host.js";

const check = {
  equal: (actual, expected) => expect(actual).toStrictEqual(expected),
  throws: (action, message) => expect(action).toThrow(message),
};
const cases = [
  ...coreCases,
  ...Object.keys(host.runners).flatMap((driver) => driverCases(driver, host)),
];
for (const { name, run } of cases) test(name, () => run(check));
