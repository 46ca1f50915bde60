import { awakeMs } from '../../src/conformance/awake.ts'

/** Says how far both clocks went on between two messages of its parent. */
const clocks = (): readonly number[] => [performance.now(), awakeMs()]
let [wall = 0, awake = 0] = clocks()

process.on('message', () => {
  const [toWall = 0, toAwake = 0] = clocks()
  process.send?.({ wallMs: toWall - wall, awakeMs: toAwake - awake })
  ;[wall, awake] = [toWall, toAwake]
})
process.on('disconnect', () => process.exit())
