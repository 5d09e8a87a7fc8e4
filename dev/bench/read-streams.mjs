// Opens event streams and reads them until it is ended. Says `open` when all of them are.
import { get } from 'node:http'

const { PORT, TOKEN, STREAMS } = process.env
let open = 0
for (let index = 0; index < Number(STREAMS); index += 1)
  get(
    {
      ...{ host: '127.0.0.1', port: Number(PORT), path: '/api/v1/events', agent: false },
      headers: { authorization: `Bearer ${TOKEN}` },
    },
    (response) => {
      if (response.statusCode !== 200) {
        console.log(`refused: ${response.statusCode}`)
        process.exit(1)
      }
      response.resume()
      open += 1
      if (open === Number(STREAMS)) console.log('open')
    },
  )
