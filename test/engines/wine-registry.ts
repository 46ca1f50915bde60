const SERVICES =
  /\\\\Services\\\\(Eventlog|NDIS|PlugPlay|FontCache|FontCache3\.0\.0\.0|Winmgmt|wuauserv|BITS|Spooler|Schedule|StiSvc|TermService|winebus|winehid|wineusb|HTTP)\]/

/** The text of Wine's registry with services switched off that a database never uses: they take time at each start. */
export function withoutServices(registry: string): string {
  let key = ''
  const lines = registry.split('\n').map((line) => {
    if (line.startsWith('[')) key = line
    const isStarted = /^"Start"=dword:0000000[0-3]/.test(line)
    return isStarted && SERVICES.test(key) ? '"Start"=dword:00000004' : line
  })
  return lines.join('\n')
}
