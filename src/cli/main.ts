#!/usr/bin/env node
import { runCli } from './run.ts'

const { text, exitCode } = await runCli(process.argv.slice(2))
const stream = exitCode === 0 ? process.stdout : process.stderr
stream.write(text)
process.exitCode = exitCode
