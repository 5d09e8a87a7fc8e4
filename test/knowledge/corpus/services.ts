/** Documents of invented services: the same topics in each, so that they are hard to tell apart. */
export interface Service {
  readonly name: string
  readonly does: string
}

export const SERVICES: readonly Service[] = [
  { name: 'Quillport', does: 'stores signed documents' },
  { name: 'Tarnbridge', does: 'moves parcels between warehouses' },
  { name: 'Ostrava', does: 'plans the shifts of nurses' },
  { name: 'Fennel', does: 'sells tickets for concerts' },
  { name: 'Marlowe', does: 'reads meters of electricity' },
  { name: 'Copperkiln', does: 'prints photographs on mugs' },
  { name: 'Lanternfish', does: 'tracks boats in harbours' },
  { name: 'Dovetail', does: 'matches tenants with flats' },
  { name: 'Saltmarsh', does: 'forecasts the price of vegetables' },
  { name: 'Brindle', does: 'registers dogs and their owners' },
  { name: 'Hollowell', does: 'books courts for tennis' },
  { name: 'Pemberley', does: 'lends books to schools' },
]

export interface Topic {
  readonly path: string
  readonly title: string
  readonly heading: string
  /** `{s}` is the service, `{does}` what it does, `{n}` a number of its own. */
  readonly intro: string
  readonly body: string
  readonly close: string
  readonly para: string
}

export const TOPICS: readonly Topic[] = [
  {
    path: 'sessions',
    title: 'Sessions of {s}',
    heading: 'Idle time',
    intro: 'Users of {s}, which {does}, sign in once a day.',
    body: 'A session that is idle for {n} minutes is ended, and unsaved input is kept as a draft.',
    close: 'after how many idle minutes is a session of {s} ended',
    para: 'how long can I be away from {s} before I am logged out',
  },
  {
    path: 'import',
    title: 'Importing into {s}',
    heading: 'Broken rows',
    intro: 'Partners of {s}, which {does}, send a table every night.',
    body: 'Rows that cannot be read are set aside. If more than {n} of them are broken, the whole import is refused.',
    close: 'how many broken rows refuse the import of {s}',
    para: 'tolerance of {s} for malformed lines in a partner file',
  },
  {
    path: 'capacity',
    title: 'Capacity of {s}',
    heading: 'Scaling out',
    intro: '{s} {does} on small machines.',
    body: 'When the processors are busier than {n} percent for five minutes, another machine is started.',
    close: 'when does {s} start another machine for scaling out',
    para: 'what load makes {s} add hardware automatically',
  },
  {
    path: 'alerts',
    title: 'Alerts of {s}',
    heading: 'Slow answers',
    intro: 'The team of {s}, which {does}, is called by the pager.',
    body: 'The pager rings when one answer in a hundred takes longer than {n} milliseconds.',
    close: 'when does the pager ring for slow answers of {s}',
    para: 'latency threshold that wakes the {s} engineers',
  },
  {
    path: 'archive',
    title: 'Archive of {s}',
    heading: 'Cold storage',
    intro: 'Old records of {s}, which {does}, are seldom needed.',
    body: 'After {n} months a record is moved to cold storage, from where fetching it takes half a day.',
    close: 'after how many months does {s} move a record to cold storage',
    para: 'at what age does {s} data become slow to retrieve',
  },
  {
    path: 'passwords',
    title: 'Passwords in {s}',
    heading: 'Wrong attempts',
    intro: 'Accounts of {s}, which {does}, have a password and a second factor.',
    body: 'After {n} wrong attempts the account is locked for an hour and its owner gets a mail.',
    close: 'how many wrong password attempts lock an account of {s}',
    para: 'protection of {s} against guessing credentials',
  },
  {
    path: 'invoices',
    title: 'Invoices of {s}',
    heading: 'Reminders',
    intro: 'Customers of {s}, which {does}, pay once a month.',
    body: 'A bill that is open for {n} days is reminded of twice; then the account becomes read-only.',
    close: 'after how many days is an open bill of {s} reminded of',
    para: 'what does {s} do about customers who have not paid',
  },
  {
    path: 'languages',
    title: 'Languages of {s}',
    heading: 'Choosing the language',
    intro: '{s} {does} in {n} languages.',
    body: 'The language is taken from the profile, then from the browser, and is never guessed from the address.',
    close: 'choosing the language in {s}',
    para: 'how does {s} know in which tongue to talk to me',
  },
  {
    path: 'reports',
    title: 'Reports of {s}',
    heading: 'Monthly numbers',
    intro: 'Managers of {s}, which {does}, look at numbers on paper.',
    body: 'On day {n} of the month a summary is computed and frozen; corrections appear in the following one.',
    close: 'on which day are the monthly numbers of {s} computed and frozen',
    para: 'late fixes to the {s} statistics for management',
  },
  {
    path: 'ownership',
    title: 'Who owns {s}',
    heading: 'Contact',
    intro: '{s} {does}; it is owned by a team of {n} people.',
    body: 'Questions go to the channel of the team, and are answered until five in the afternoon.',
    close: 'contact channel of the team that owns {s}',
    para: 'who can I ask for help about {s}',
  },
  {
    path: 'keys',
    title: 'Access keys for {s}',
    heading: 'Expiry',
    intro: 'Programs that talk to {s}, which {does}, hold a key.',
    body: 'A key expires after {n} weeks. Its holder is told two weeks ahead and can have two keys meanwhile.',
    close: 'after how many weeks does a key for {s} expire',
    para: 'lifetime of API credentials in {s}',
  },
  {
    path: 'outages',
    title: 'Outages of {s}',
    heading: 'Status page',
    intro: 'When {s}, which {does}, is down, customers want to know.',
    body: 'The status page is updated every {n} minutes, even if there is nothing new to say.',
    close: 'how often is the status page of {s} updated in outages',
    para: 'keeping clients informed while {s} is unavailable',
  },
  {
    path: 'exports',
    title: 'Exports from {s}',
    heading: 'Format',
    intro: 'Whatever {s} knows, customers can take away; it {does}.',
    body: 'Exports are tables in UTF-8, cut into files of at most {n} megabytes, with a list of their hashes.',
    close: 'format of the files that are exports from {s}',
    para: 'taking my data out of {s} when switching to a competitor',
  },
  {
    path: 'quality',
    title: 'Quality of {s}',
    heading: 'Sampling',
    intro: '{s} {does}, and people check how well.',
    body: 'Out of each thousand results {n} are drawn by chance and judged by two persons who do not see each other.',
    close: 'how many results of {s} are drawn by chance and judged',
    para: 'manual spot checks of what {s} produces',
  },
]
