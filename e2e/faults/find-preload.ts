import { existsSync } from 'node:fs'
import { join } from 'node:path'

const folders = ['/usr/lib', '/usr/local/lib', '/lib', `/usr/lib/${gnuArchitecture()}-linux-gnu`]

/** Finds a library for LD_PRELOAD among the places where distributions put it; null when it is not installed. */
export function findPreload(name: 'libfaketime.so.1' | 'libnss_wrapper.so'): string | null {
  const places = folders.flatMap(folder => [join(folder, name), join(folder, 'faketime', name)])
  return places.find(place => existsSync(place)) ?? null
}

function gnuArchitecture(): string {
  return process.arch === 'arm64' ? 'aarch64' : 'x86_64'
}
