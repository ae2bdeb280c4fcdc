// peer_ai.mjs - the client of ai, with its provider for OpenAI's format; see
// client.mjs
import { streamText, tool, stepCountIs } from 'ai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { z } from 'zod';
import { run, say, HI } from './client.mjs';

run((base) => {
    const model = createOpenAICompatible({ name: 'replay', apiKey: 'k',
        baseURL: base + '/v1' })('m');
    const note = tool({ description: 'keeps a note',
        inputSchema: z.object({ text: z.string() }),
        execute: async () => 'fine' });
    const open = (messages, more) => streamText({ model, messages,
        maxRetries: 0, ...more });
    const isDelta = (part) => part.type === 'text-delta' ||
        part.type === 'tool-input-delta';

    async function collect(messages, more) {
        let n = 0;
        for await (const part of open(messages, more).fullStream) {
            if (part.type === 'error') throw part.error;
            n += isDelta(part);
        }
        return n;
    }

    return {
        convert: (m) => m,
        read: collect,
        tools: () => collect(HI, { tools: { note },
            stopWhen: stepCountIs(3) }),
        async hold() {
            const iterator = open(HI).fullStream[Symbol.asyncIterator]();
            for (;;) {
                const { value } = await iterator.next();
                if (isDelta(value)) return iterator;
            }
        },
        async first() {
            for await (const part of open(HI).fullStream)
                if (isDelta(part)) say('first');
        },
    };
});
