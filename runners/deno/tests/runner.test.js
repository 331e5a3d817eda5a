import { assertEquals, assertThrows } from "@std/assert";
import { askedCases } from "../../javascript/tests/asked.js";
import { coreCases } from "../../javascript/tests/core.js";
import { driverCases } from "../../javascript/tests/drivers.js";
import { recordingCases } from "../../javascript/tests/recording.js";
import { host } from "../host.js";

const check = {
  equal: assertEquals,
  throws: (action, message) => assertThrows(action, Error, message),
};
const cases = [
  ...coreCases,
  ...recordingCases,
  ...Object.keys(host.runners).flatMap((driver) => [
    ...driverCases(driver, host),
    ...askedCases(driver, host),
  ]),
];
for (const { name, run } of cases) Deno.test(name, () => run(check));
