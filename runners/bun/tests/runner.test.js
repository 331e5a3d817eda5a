import { expect, test } from "bun:test";
import { askedCases } from "../../javascript/tests/asked.js";
import { coreCases } from "../../javascript/tests/core.js";
import { driverCases } from "../../javascript/tests/drivers.js";
import { recordingCases } from "../../javascript/tests/recording.js";
import { host } from "../host.js";

const check = {
  equal: (actual, expected) => expect(actual).toStrictEqual(expected),
  throws: (action, message) => expect(action).toThrow(message),
};
const cases = [
  ...coreCases,
  ...recordingCases,
  ...Object.keys(host.runners).flatMap((driver) => [
    ...driverCases(driver, host),
    ...askedCases(driver, host),
  ]),
];
for (const { name, run } of cases) test(name, () => run(check));
