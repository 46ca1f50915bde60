import { pbkdf2 } from 'node:crypto'

import { openUrl } from '../../src/connect/open.ts'

// A program of its own, for a process that may crash: asks for connections, and closes before they are there.
const connected = await openUrl(process.argv[2] ?? '')
// the one thread that makes connections has something else to do first
pbkdf2('', '', 200_000, 64, 'sha512', () => {})
const opening = Promise.allSettled([connected.sessions.open(), connected.sessions.open()])
await connected.close()
const outcomes = await opening
console.log(JSON.stringify(outcomes.map((one) => (one.status === 'rejected' ? String(one.reason) : 'open'))))
