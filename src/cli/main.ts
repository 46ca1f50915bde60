#!/usr/bin/env node
import { runCli } from './run.ts'

const { stdout, stderr, env } = process
const interrupt = new AbortController()
// a second one ends the program the usual way
process.once('SIGINT', () => interrupt.abort(new Error('interrupted')))

const { text, exitCode } = await runCli(process.argv.slice(2), {
  write: (part) => void stdout.write(part),
  progress: (part) => void stderr.write(part),
  isInteractive: stderr.isTTY && env.CI === undefined,
  isScreen: stdout.isTTY,
  hasColour: env.NO_COLOR === undefined && (stdout.isTTY || env.FORCE_COLOR !== undefined),
  columns: stdout.columns ?? 100,
  signal: interrupt.signal,
})
const stream = exitCode === 0 ? stdout : stderr
stream.write(text)
process.exitCode = exitCode
