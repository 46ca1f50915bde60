import { chromium, type Browser } from 'playwright-core'

import { aptProgram } from '../engines/apt-program.ts'
import type { Unavailable } from '../engines/engine.ts'
import { findPrograms } from '../engines/find-program.ts'

/** A browser that looks for nothing on the network. */
export async function openBrowser(): Promise<Browser | Unavailable> {
  const program = await findBrowser()
  if (typeof program !== 'string') return program
  return chromium.launch({
    executablePath: program,
    args: [
      '--no-sandbox', // root has none, and only pages of ours are opened
      '--disable-gpu',
      '--disable-quic',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}

/** With `HOLDFAST_CHROMIUM_INSTALL=1` one that is missing is installed. */
async function findBrowser(): Promise<string | Unavailable> {
  const names = ['chromium', 'chromium-browser', 'google-chrome']
  const [found] = (await Promise.all(names.map((name) => findPrograms(name)))).flat()
  if (found !== undefined) return found
  if ((process.env.HOLDFAST_CHROMIUM_INSTALL ?? '') !== '') return aptProgram({ name: 'chromium' })
  return {
    unavailable: 'no Chromium is installed; HOLDFAST_CHROMIUM_INSTALL=1 lets root install it with apt-get',
  }
}
