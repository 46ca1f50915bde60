import { startCuttingProxy } from '../../entries/cutting-proxy.ts'
import type { Ground } from '../ground.ts'

/** What the library says to end a transaction, and the work never does. */
const words = {
  commit: () => 'COMMIT',
  rollback: (engine: string) => (engine === 'postgres' ? 'ROLLBACK\0' : 'ROLLBACK'),
}

/** A pool of one connection, so that one which is not given up is missed, behind a network that breaks. */
export async function overBadNetwork<Tx>(
  url: string,
  engine: string,
  open: (url: string) => Ground<Tx>,
): Promise<Ground<Tx>> {
  const proxy = await startCuttingProxy(url)
  const ground = open(proxy.url)
  return {
    ...ground,
    canBreak: true,
    canKill: false,
    breakNetwork: ({ at, how }) => void proxy.cutAt(words[at](engine), how),
    mendNetwork: proxy.mend,
    close: async () => {
      await ground.close()
      await proxy.close()
    },
  }
}
