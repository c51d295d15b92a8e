// The service from Node: unary calls, streams, error details, TLS. Prints one line of JSON for the test to judge.
// node client.js HOST:PORT PROTO_FOLDER... [--ca FILE --token TOKEN]
'use strict';
const fs = require('fs');
const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');

const [address, ...rest] = process.argv.slice(2);
const option = (name) => (rest.includes(name) ? rest[rest.indexOf(name) + 1] : undefined);
const folders = rest.filter((each, at) => !each.startsWith('--') && !(rest[at - 1] || '').startsWith('--'));
const definition = loader.loadSync('arrastre/v1/analysis_service.proto', {
  includeDirs: folders, keepCase: false, enums: String, longs: String, defaults: true, oneofs: true,
});
const { AnalysisService } = grpc.loadPackageDefinition(definition).arrastre.v1;
const ca = option('--ca');
const credentials = ca ? grpc.credentials.createSsl(fs.readFileSync(ca)) : grpc.credentials.createInsecure();
const metadata = new grpc.Metadata();
if (option('--token')) metadata.set('authorization', `Bearer ${option('--token')}`);
const client = new AnalysisService(address, credentials);
const text = 'RESE.CB/4O.CC.4B/1E3E7E/RC.4E.SB B 2 - points=32-49 tricks=2-5';

const unary = (method, request) => new Promise((resolve) => {
  client[method](request, metadata, { deadline: Date.now() + 20000 }, (error, answer) => resolve({ error, answer }));
});
const stream = (call) => new Promise((resolve, reject) => {
  const found = [];
  call.on('data', (each) => found.push(each));
  call.on('error', reject);
  call.on('end', () => resolve(found));
});

(async () => {
  const solved = await unary('solve', { id: 'ñ', text });
  if (solved.error && ca && !option('--token')) {
    console.log(JSON.stringify({ code: solved.error.code }));
    return;
  }
  const refused = await unary('solve', { text: 'no position' });
  const best = await unary('best', { text, seed: 1 });
  const watched = await stream(client.watchBest({ best: { text } }, metadata));
  const batch = client.solveBatch(metadata);
  const answers = stream(batch);
  batch.write({ id: 'b', items: [{ id: '1', text }, { id: '2', text: 'nonsense' }] });
  batch.end();
  const items = (await answers)[0].items;
  console.log(JSON.stringify({
    id: solved.answer.id,
    margin: solved.answer.solution.margin,
    best: solved.answer.solution.best,
    code: refused.error.code,
    details: refused.error.metadata.get('grpc-status-details-bin').length,
    advice: best.answer.advice.best[0].action,
    finals: watched.map((each) => each.final),
    items: items.map((each) => [each.id, each.result]),
  }));
})().catch((error) => { console.error(error); process.exit(1); }).finally(() => client.close());
