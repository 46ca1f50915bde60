import { allServers } from '../../../src/cli/matrix-table.ts'
import { readServer } from '../../../src/cli/server-name.ts'
import { readResults } from '../../versions/results.ts'
import { restsOn } from '../../versions/rests-on.ts'
import { verifiedOn } from '../../versions/verified-on.ts'
import { noArguments, type Generator } from '../place.ts'

/** Where the laws were run; `verified matrix`, with the servers of a matrix, says what its columns rest on. */
export const verified: Generator = async ([form, ...servers]) => {
  const results = await readResults()
  if (form === 'matrix') {
    return restsOn(servers.length === 0 ? allServers() : servers.map(readServer), results)
  }
  noArguments(form === undefined ? [] : [form])
  return verifiedOn(results)
}
