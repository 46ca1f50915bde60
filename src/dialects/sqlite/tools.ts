import type { DialectTools } from '../tools.ts'
import { claimIndex } from './claim-index.ts'
import { examination } from './doctor.ts'
import { fixture } from './fixture.ts'
import { inspector } from './inspect.ts'
import { queueLook } from './queue-look.ts'

export const tools: DialectTools = { inspector, examination, fixture, claimIndex, queueLook }
