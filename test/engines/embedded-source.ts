import type { Source } from './engine.ts'
import { privateFolder } from './private-folder.ts'

export interface EmbeddedOptions {
  readonly engine: string
  readonly version: () => string | Promise<string>
}

/** A database that runs inside the test process: what stands for its server is a folder for the database files. */
export function embeddedSource({ engine, version }: EmbeddedOptions): Source {
  return {
    origin: 'embedded',
    start: async () => {
      const found = await version() // first: it fails where the driver's own library does not load
      const folder = await privateFolder(engine)
      return {
        server: { engine, version: found, origin: 'embedded', url: folder.path, folder: folder.path },
        stop: folder.remove,
      }
    },
  }
}
