import { parseArgs } from "@std/cli/parse-args";
import { main, OPTIONS } from "../javascript/main.js";
import { host } from "./host.js";

const { _: words, ...options } = parseArgs(Deno.args, { string: Object.keys(OPTIONS) });
Deno.exitCode = await main(host, options, words);
