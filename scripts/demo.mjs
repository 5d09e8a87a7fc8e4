// `npm run demo`: installs and builds what is missing, then shows the demo. Plain Node, because nothing is installed yet.
import { prepare } from './prepare.mjs'

prepare()
const { main } = await import('../dist/program/main.js')
await main(['demo', ...process.argv.slice(2)])
