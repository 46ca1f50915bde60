import { awakeMs } from '../../src/conformance/awake.ts'

/** Says what both clocks show, whenever its parent asks; the first argument stops it where the clock has just begun. */
const clocks = (): object => ({ wallMs: performance.now(), awakeMs: awakeMs() })

process.on('disconnect', () => process.exit())
process.on('message', () => process.send?.(clocks()))
process.send?.(clocks())
if (process.argv[2] === 'stops') process.kill(process.pid, 'SIGSTOP')
