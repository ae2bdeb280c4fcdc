// peer_langchain.mjs - the client of @langchain/openai; see client.mjs
import { ChatOpenAI } from '@langchain/openai';
import { HumanMessage, AIMessage, ToolMessage } from '@langchain/core/messages';
import { run, say } from './client.mjs';

const TOOL = { type: 'function', function: {
    name: 'note', description: 'keeps a note', parameters: {
        type: 'object', properties: { text: { type: 'string' } } } } };

run((base) => {
    const model = new ChatOpenAI({ model: 'm', apiKey: 'k', streamUsage: false,
        maxRetries: 0, configuration: { baseURL: base + '/v1' } });
    const withTool = model.bindTools([TOOL]);
    const isDelta = (chunk) => chunk.content !== '' ||
        (chunk.tool_call_chunks || []).some((c) => c.args);
    const hi = () => [new HumanMessage('hi')];

    return {
        convert: (m) => m.role === 'user' ? new HumanMessage(m.content)
            : new AIMessage(m.content),
        async read(messages) {
            let n = 0, text = '';
            for await (const chunk of await model.stream(messages)) {
                n += isDelta(chunk);
                text += chunk.content;
            }
            return n;
        },
        async tools() {
            const messages = hi();
            for (let events = 0; ;) {
                let answer = null;
                for await (const c of await withTool.stream(messages)) {
                    events += isDelta(c);
                    answer = answer ? answer.concat(c) : c;
                }
                if (!answer.tool_calls.length) return events;
                messages.push(answer);
                for (const call of answer.tool_calls)
                    messages.push(new ToolMessage({ content: 'fine',
                        tool_call_id: call.id }));
            }
        },
        async hold() {
            const stream = await model.stream(hi());
            const iterator = stream[Symbol.asyncIterator]();
            for (;;) {
                const { value } = await iterator.next();
                if (isDelta(value)) return [stream, iterator];
            }
        },
        async first() {
            for await (const chunk of await model.stream(hi()))
                if (isDelta(chunk)) say('first');
        },
    };
});
