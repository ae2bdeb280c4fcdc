// mcp_client.mjs - an official TypeScript client, against a server of ours
//
// usage: node mcp_client.mjs FOLDER 1|2 PROGRAM [ARG...]
//
// FOLDER has the packages, 1 and 2 are the generations of the client.  Prints
// one line of JSON: what the client found, and the results of its calls.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, generation, command, ...args] = process.argv.slice(2);
const require = createRequire(folder + "/package.json");
const load = (name) => import(pathToFileURL(require.resolve(name)));
const scope = "@modelcontextprotocol/";
const old = generation === "1";
const { Client } = await load(
    old ? scope + "sdk/client/index.js" : scope + "client");
const { StdioClientTransport } = await load(
    old ? scope + "sdk/client/stdio.js" : scope + "client/stdio");

const client = new Client(
    { name: "test", version: "1" },
    old ? {} : { versionNegotiation: { mode: "auto" } });
await client.connect(new StdioClientTransport({ command, args }));
const { tools } = await client.listTools();
const sum = await client.callTool({ name: "add", arguments: { a: 2, b: 3 } });
const wrong = await client.callTool({ name: "add", arguments: { a: "x" } });
let unknown = null;
try {
    await client.callTool({ name: "nothing", arguments: {} });
} catch (error) {
    unknown = error.code;
}
console.log(JSON.stringify({
    version: old ? client.transport._protocolVersion ?? null
                 : client.getNegotiatedProtocolVersion?.() ?? null,
    server: client.getServerVersion()?.name ?? null,
    tools: tools.map((tool) => tool.name),
    sum: sum.content[0].text,
    wrong: wrong.isError ?? false,
    unknown,
}));
await client.close();
