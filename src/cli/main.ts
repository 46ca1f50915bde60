#!/usr/bin/env node
import { exitCodes } from './command.ts'
import { finish, outlet } from './outlet.ts'
import { runCli } from './run.ts'

const { stdout, stderr, env } = process
const interrupt = new AbortController()
const stop = (): void => interrupt.abort(new Error('interrupted'))
const { interrupted, terminated, hungUp } = exitCodes
let interruption: number | undefined
for (const [signal, code] of Object.entries({ SIGINT: interrupted, SIGTERM: terminated, SIGHUP: hungUp })) {
  // what was made on a server is removed first; a second one ends the program the usual way
  process.once(signal, () => {
    interruption ??= code
    stop()
  })
}
const out = outlet('standard output', stdout, stop)
const err = outlet('standard error', stderr, stop)

const outcome = await runCli(process.argv.slice(2), {
  write: out.write,
  progress: err.write,
  isInteractive: stderr.isTTY && env.CI === undefined,
  isScreen: stdout.isTTY,
  hasColour: env.NO_COLOR === undefined && (stdout.isTTY || env.FORCE_COLOR !== undefined),
  columns: stdout.columns ?? 100,
  signal: interrupt.signal,
})
const exitCode = await finish(outcome, out, err)
process.exitCode = exitCode === interrupted ? (interruption ?? exitCode) : exitCode
