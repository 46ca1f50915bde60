import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ConnectError } from './connect-error.ts'
import type { Driver } from './driver.ts'

/** The driver's module: the user's own, else one that is installed beside Holdfast. */
export async function loadDriver({ name, module = name }: Driver): Promise<unknown> {
  const file = findModule(module)
  if (file === undefined) {
    throw new ConnectError('driver', `the driver ${name} is not installed: npm install ${name}`)
  }
  try {
    return await loadFile(file)
  } catch (error) {
    throw new ConnectError(
      'driver',
      `the driver ${name} is installed, but does not load: ${firstLine(error)}`,
      {
        cause: error,
      },
    )
  }
}

/** Where a module of a package is, as seen from the working directory, else from here; undefined when nowhere. */
export function findModule(specifier: string): string | undefined {
  for (const from of [join(process.cwd(), 'package.json'), import.meta.url]) {
    try {
      return createRequire(from).resolve(specifier)
    } catch {
      // not to be had from there
    }
  }
  return undefined
}

/** What a module exports; of one in the older format, what it calls `module.exports`. */
export async function loadFile(file: string): Promise<unknown> {
  const loaded: unknown = await import(pathToFileURL(file).href)
  const isOlder = typeof loaded === 'object' && loaded !== null && 'default' in loaded
  return isOlder ? loaded.default : loaded
}

function firstLine(error: unknown): string {
  const [line = ''] = String(error instanceof Error ? error.message : error).split('\n', 1)
  return line
}
