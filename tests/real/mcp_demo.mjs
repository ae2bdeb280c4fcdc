// mcp_demo.mjs - a server of the official TypeScript package, for our client
//
// usage: node mcp_demo.mjs FOLDER     (FOLDER has the packages)
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(process.argv[2] + "/package.json");
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { McpServer, fromJsonSchema, inputRequired } = await load(
    "@modelcontextprotocol/server");
const { serveStdio } = await load("@modelcontextprotocol/server/stdio");

const form = {
    type: "object",
    properties: { name: { type: "string" },
                  count: { type: "integer", default: 3 } },
    required: ["name"],
};

serveStdio(() => {
    const server = new McpServer({ name: "demo", version: "1" },
                                 { capabilities: { tools: {} } });
    server.registerTool("add", {
        description: "Adds two numbers",
        inputSchema: fromJsonSchema({
            type: "object",
            properties: { a: { type: "number" }, b: { type: "number" } },
            required: ["a", "b"],
        }),
    }, ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }] }));
    server.registerTool("greet", {
        description: "Asks the user for a name",
        inputSchema: fromJsonSchema({ type: "object" }),
    }, (_, context) => {
        const answer = context.mcpReq.inputResponses?.who;
        if (!answer)
            return inputRequired({
                inputRequests: {
                    who: inputRequired.elicit({ message: "who?",
                                                requestedSchema: form }),
                },
            });
        const { name, count } = answer.content;
        return { content: [{ type: "text", text: `hello ${name} ${count}` }] };
    });
    return server;
});
