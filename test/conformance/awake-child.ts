import { awakeMs, awakeTimeout } from '../../src/conformance/awake.ts'

/**
 * Says what both clocks show, whenever its parent asks, and when two seconds were over. The first argument stops it where
 * the clock has just begun, or lets it end if nothing keeps it.
 */
const [how] = process.argv.slice(2)
const over = awakeTimeout(how === 'ends' ? 600_000 : 2000)
let overAtMs: number | undefined
over.addEventListener('abort', () => (overAtMs = awakeMs()))
const clocks = (): object => ({ wallMs: performance.now(), awakeMs: awakeMs(), overAtMs })

process.on('message', () => process.send?.(clocks()))
process.send?.(clocks())
if (how === 'stops') process.kill(process.pid, 'SIGSTOP')
if (how === 'ends') process.disconnect()
else process.on('disconnect', () => process.exit())
