import { parseArgs } from "node:util";
import { main, OPTIONS } from "../javascript/main.js";
import { host } from "./host.js";

const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true });
process.exitCode = await main(host, values, positionals);
