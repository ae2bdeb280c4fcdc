// client.mjs - what the clients in JavaScript share; see client.h
//
// run() is passed an object with these asynchronous functions:
//
//   read(messages)   one request: the deltas that came
//   tools()          a loop of three turns: the deltas that came
//   hold()           opens a stream, reads one delta, returns the stream
//   first()          one request; calls say('first') at the first delta
//   convert(m)       a message of the library from { role, content }

import readline from 'node:readline';

const HISTORY = 1000;
const PROSE = ('The gardener said: plant them in autumn, before the first ' +
    'frost, as deep as a hand. ').repeat(6).slice(0, 400);
export const HI = [{ role: 'user', content: 'hi' }];

export function say(line) { process.stdout.write(line + '\n'); }

const lines = [];
let waiting = null;

function listen() {
    readline.createInterface({ input: process.stdin }).on('line', (line) => {
        if (waiting) waiting(line); else lines.push(line);
        waiting = null;
    });
}

function meet(line) {
    say(line);
    return lines.length ? lines.shift() : new Promise((r) => { waiting = r; });
}

async function plain(peer, n) {
    let events = 0;
    for (let i = 0; i < n; i++) events += await peer.read(HI.map(peer.convert));
    return events;
}

async function history(peer, n) {
    const messages = [];
    for (let i = 0; i < HISTORY - 1; i++)
        messages.push(peer.convert({ role: i % 2 ? 'assistant' : 'user',
            content: PROSE }));
    let events = 0;
    for (let i = 0; i < n; i++) {
        messages.push(peer.convert({ role: 'user', content: PROSE }));
        events += await peer.read(messages);
    }
    return events;
}

async function tools(peer, n) {
    let events = 0;
    for (let i = 0; i < n; i++) events += await peer.tools();
    return events;
}

async function paced(peer, n) {
    const all = [];
    for (let i = 0; i < n; i++) all.push(peer.read(HI.map(peer.convert)));
    return (await Promise.all(all)).reduce((a, b) => a + b, 0);
}

async function hold(peer, n) {
    listen();
    const streams = [await peer.hold()];
    await meet('base');
    for (let i = 0; i < n; i++) streams.push(await peer.hold());
    await meet('held');
    process.exit(streams.length ? 0 : 1);
}

function cpu() {
    const u = process.cpuUsage();
    return u.user + u.system;
}

export async function run(make) {
    const [workload, base, count] = process.argv.slice(2);
    const n = Number(count), peer = make(base);
    if (workload === 'hold') return hold(peer, n);
    if (workload === 'start') return peer.first();
    const work = { history, tools, paced }[workload] || plain;
    await work(peer, Math.max(1, Math.floor(n / 5)));
    const began = cpu();
    const events = await work(peer, n);
    say(JSON.stringify({ events, cpu_us: cpu() - began }));
    process.exit(0);
}
