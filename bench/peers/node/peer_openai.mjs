// peer_openai.mjs - the client of openai; see client.mjs
import OpenAI from 'openai';
import { run, say, HI } from './client.mjs';

const TOOL = { type: 'function', function: {
    name: 'note', description: 'keeps a note', parameters: {
        type: 'object', properties: { text: { type: 'string' } } } } };

run((base) => {
    const openai = new OpenAI({ apiKey: 'k', baseURL: base + '/v1' });
    const open = (messages, more) => openai.chat.completions.create(
        { model: 'm', messages, stream: true, ...more });

    async function collect(messages, more) {
        let n = 0, text = '', call = null;
        for await (const chunk of await open(messages, more)) {
            const delta = chunk.choices[0].delta;
            if (delta.content) { n++; text += delta.content; }
            for (const c of delta.tool_calls || []) {
                call ||= { id: c.id, arguments: '' };
                if (c.function.arguments) {
                    n++;
                    call.arguments += c.function.arguments;
                }
            }
        }
        return { n, text, call };
    }

    return {
        convert: (m) => m,
        read: async (messages) => (await collect(messages)).n,
        async tools() {
            const messages = [...HI];
            for (let events = 0; ;) {
                const { n, call } = await collect(messages, { tools: [TOOL] });
                events += n;
                if (!call) return events;
                JSON.parse(call.arguments);
                messages.push({ role: 'assistant', tool_calls: [{
                    id: call.id, type: 'function', function: {
                        name: 'note', arguments: call.arguments } }] });
                messages.push({ role: 'tool', tool_call_id: call.id,
                    content: 'fine' });
            }
        },
        async hold() {
            const stream = await open(HI);
            const iterator = stream[Symbol.asyncIterator]();
            await iterator.next();
            return [stream, iterator];
        },
        async first() {
            for await (const chunk of await open(HI))
                if (chunk.choices[0].delta.content) say('first');
        },
    };
});
