import { parseArgs } from "@std/cli/parse-args";
import { main } from "../javascript/main.js";
import { host } from "./host.js";

const { _: positionals, driver, job } = parseArgs(Deno.args, { string: ["driver", "job"] });
Deno.exitCode = await main(host, { driver, job, command: positionals[0] });
