import { expect, test } from 'vitest'

import { box64Packages, pageSizeProblem, winePackages, wineUnderBox64 } from './box64.ts'
import { underWine, wineEnvironment } from './wine.ts'
import { withoutServices } from './wine-registry.ts'

// Nothing here needs a machine with arm64, and nothing here proves that Wine runs on one.
const wine = wineUnderBox64('/box/usr/bin/box64', '/wine')

test('the emulator is of arm64, and Wine of x64', () => {
  expect(box64Packages).toMatchObject({ suite: 'trixie', architecture: { debian: 'arm64' }, isOpen: true })
  expect(box64Packages.alone).toEqual(['box64', 'libc6', 'libgcc-s1', 'libstdc++6'])
  expect(box64Packages.startedByThemselves).toEqual(['usr/bin/box64'])
  expect(winePackages).toMatchObject({ suite: 'bookworm', architecture: { debian: 'amd64' }, isOpen: true })
  expect(winePackages.alone).toContain('wine64')
})

test('the emulator runs Wine, and Wine the program', () => {
  expect(underWine(wine).slice(-2)).toEqual(['/box/usr/bin/box64', '/wine/usr/lib/wine/wine64'])
  expect(wine.server).toEqual(['/box/usr/bin/box64', '/wine/usr/lib/wine/wineserver'])
  expect(wine.libraries).toBe('/wine/usr/lib/x86_64-linux-gnu/wine/x86_64-windows')
})

test('memory is ordered as on x64, and the C++ runtime is the one beside the program', () => {
  expect(wineEnvironment(wine, '/prefix', '/tmp/own')).toMatchObject({
    BOX64_DYNAREC_STRONGMEM: '3',
    BOX64_NORCFILES: '1',
    BOX64_LD_LIBRARY_PATH: '/wine/usr/lib/x86_64-linux-gnu:/wine/lib/x86_64-linux-gnu',
    WINEPREFIX: '/prefix',
    TMPDIR: '/tmp/own',
    WINEDLLOVERRIDES: expect.stringMatching(/;msvcp140,vcruntime140,vcruntime140_1=n$/),
  })
})

test('a kernel with large pages is a reason, and no crash', () => {
  expect(pageSizeProblem(4096)).toBeUndefined()
  expect(pageSizeProblem(65_536)).toMatch(/needs a kernel with pages of 4096 bytes.*65536/)
})

test('services that no database uses are switched off, and no others', () => {
  const key = (name: string): string => `[System\\\\CurrentControlSet\\\\Services\\\\${name}] 1700000000`
  const registry = [
    key('Spooler'),
    '"Start"=dword:00000002',
    '"Type"=dword:00000110',
    key('RpcSs'),
    '"Start"=dword:00000003',
    key('BITS\\\\Parameters'),
    '"Start"=dword:00000003',
    '',
  ]
  const changed = registry.with(1, '"Start"=dword:00000004')
  expect(withoutServices(registry.join('\n'))).toBe(changed.join('\n'))
})
