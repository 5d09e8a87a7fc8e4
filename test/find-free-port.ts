import { createServer } from 'node:net'

// Below the ports that the kernel gives to connections and to servers without a number: a server that is started again
// finds its port free.
const PORT_MIN = 10_000
const PORTS = 20_000

/** A port of loopback for a server that cannot choose one itself, or that has to be found again after a restart. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = PORT_MIN + Math.floor(Math.random() * PORTS)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.on('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}
