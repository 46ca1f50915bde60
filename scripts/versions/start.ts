import type { StartedServer, Unavailable } from '../../test/engines/engine.ts'
import { loadEngine } from '../../test/engines/engine-list.ts'
import { startMariadb } from '../../test/engines/mariadb.ts'
import { downloadedMariadb, type MariadbVersion } from '../../test/engines/mariadb-programs.ts'
import { postgresOfVersion } from '../../test/engines/postgres-programs.ts'
import { startPostgres } from '../../test/engines/postgres-server.ts'
import { messageOf } from '../../test/engines/run-command.ts'
import { describeRefusals, startEngine } from '../../test/engines/sources.ts'
import { cannotBeHad, type Target } from './targets.ts'

/** Starts a target, or says why this machine cannot have it. */
export async function startTarget(target: Target): Promise<StartedServer | Unavailable> {
  const reason = cannotBeHad(target, process.arch)
  if (reason !== undefined) return { unavailable: reason }
  try {
    return await ofItsVersion(await start(target), target)
  } catch (error) {
    return { unavailable: messageOf(error) }
  }
}

async function start({ engine, version = '' }: Target): Promise<StartedServer> {
  if (engine === 'postgres') return startPostgres(await postgresOfVersion(version), 'download')
  if (engine === 'mariadb')
    return startMariadb(await downloadedMariadb(version as MariadbVersion), 'download')
  const { started, refusals } = await startEngine(await loadEngine(engine), ({ origin }) =>
    ['download', 'embedded'].includes(origin),
  )
  if (started === undefined) throw new Error(describeRefusals(refusals))
  return started
}

/** A Debian release that still changes may have another version by now. */
async function ofItsVersion(started: StartedServer, { version }: Target): Promise<StartedServer> {
  const { server } = started
  if (version === undefined || server.version.startsWith(`${version}.`)) return started
  await started.stop()
  throw new Error(`what is to be had is version ${server.version}`)
}
