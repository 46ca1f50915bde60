import type { DialectTools } from '../tools.ts'
import { claimIndex } from '../mysql/claim-index.ts'
import { deadlocks } from '../mysql/deadlock.ts'
import { examination } from './doctor.ts'
import { fixture } from '../mysql/fixture.ts'
import { inspector } from './inspect.ts'
import { queueLook } from '../mysql/queue-look.ts'

export const tools: DialectTools = { inspector, examination, fixture, claimIndex, queueLook, deadlocks }
