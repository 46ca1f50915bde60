import type { DialectTools } from '../tools.ts'
import { examination } from './doctor.ts'
import { fixture } from '../mysql/fixture.ts'
import { inspector } from './inspect.ts'

export const tools: DialectTools = { inspector, examination, fixture }
