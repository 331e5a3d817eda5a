import { parseArgs } from "node:util";
import { main } from "../javascript/main.js";
import { host } from "./host.js";

const { values, positionals } = parseArgs({
  options: { driver: { type: "string" }, job: { type: "string" } },
  allowPositionals: true,
});
process.exitCode = await main(host, { ...values, command: positionals[0] });
