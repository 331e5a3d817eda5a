import { assertEquals, assertThrows } from "@std/assert";
import { coreCases } from "../../javascript/tests/core.js";
import { driverCases } from "../../javascript/tests/drivers.js";
import { host } from "../host.js";

const check = {
  equal: assertEquals,
  throws: (action, message) => assertThrows(action, Error, message),
};
const cases = [
  ...coreCases,
  ...Object.keys(host.runners).flatMap((driver) => driverCases(driver, host)),
];
for (const { name, run } of cases) Deno.test(name, () => run(check));
