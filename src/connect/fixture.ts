import type { Session } from '../core/session.ts'
import type { Fixture } from '../dialects/tools.ts'
import { identify } from '../locks/identify.ts'
import { findDialect } from '../registry.ts'
import type { Driver } from './driver.ts'

/** How tables are made and dropped on the server that a session has reached. */
export async function fixtureOf(session: Session, { dialects }: Driver): Promise<Fixture> {
  const { dialect } = await identify({ dialects: dialects.map(findDialect), version: undefined })(session)
  const tools = await dialect.tools?.()
  if (tools === undefined) throw new TypeError(`${dialect.title} has no tools for proving its locks`)
  return tools.fixture
}
