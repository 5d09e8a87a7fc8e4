/** A phase's text, the fields it demands, and its problems as `code@line` (line 1 is the first of the text). */
export interface Case {
  readonly name: string
  readonly text: string
  readonly fields: readonly string[]
  readonly problems?: readonly string[]
  readonly head?: string
}

const gate = (lines: string): string => `### Checkpoint\n\n${lines}`
const block = (yaml: string): string => `### Checkpoint\n\n\`\`\`yaml evidence\n${yaml}\n\`\`\``

export const REFUSED: readonly Case[] = [
  { name: 'no gate section and no sentence', text: 'Just read.', fields: [], problems: ['no_gate_section@-1'] },
  { name: 'an empty gate section', text: gate('Do your best.'), fields: [], problems: ['no_requirement_found@1'] },
  {
    name: 'two gate sections',
    text: `${gate('- `a` (integer)')}\n\n### Validation Gate\n\n- \`b\` (integer)`,
    fields: [],
    problems: ['multiple_gate_sections@5'],
  },
  {
    name: 'requirements only in fenced code',
    text: gate('```\nRequired: `a` count\n- [ ] b {#b}\n```'),
    fields: [],
    problems: ['no_requirement_found@1'],
  },
  {
    name: 'requirements only in indented code',
    text: gate('Text.\n\n    Required: `a` count'),
    fields: [],
    problems: ['no_requirement_found@1'],
  },
  {
    name: 'requirements only in a comment',
    text: gate('<!--\nRequired: `a` count\n\n- [ ] b {#b}\n-->\n\nText <!-- evidence: `c` --> here.'),
    fields: [],
    problems: ['no_requirement_found@1'],
  },
  {
    name: 'a comment that never ends hides what follows, and nothing is demanded',
    text: gate('<!-- draft\n\n- `a` (integer)'),
    fields: [],
    problems: ['no_requirement_found@1'],
  },
  {
    name: 'a marker without a name',
    text: gate('Evidence: show your work'),
    fields: [],
    problems: ['unknown_field@3'],
  },
  {
    name: 'a bold marker is no name',
    text: gate('**Required:** the output'),
    fields: [],
    problems: ['unknown_field@3'],
  },
  {
    name: 'a code span that is no name',
    text: gate('Must provide the output of `npm test`'),
    fields: [],
    problems: ['unknown_field@3'],
  },
  {
    name: 'a type nobody knows in a table',
    text: gate('| field | type |\n| --- | --- |\n| a | quaternion |'),
    fields: [],
    problems: ['unknown_type@5'],
  },
  {
    name: 'a rule nobody knows in a table',
    text: gate('| field | type | rule |\n| --- | --- | --- |\n| a | integer | lambda x: x > 0 |'),
    fields: [],
    problems: ['unknown_validator@5'],
  },
  {
    name: 'a rule that takes itself back',
    text: gate('- `a` (integer, at least 3 unless tired)'),
    fields: [],
    problems: ['unknown_validator@3'],
  },
  {
    name: 'a minimum of a flag',
    text: gate('- `a` (boolean, at least 3)'),
    fields: [],
    problems: ['rule_type_mismatch@3'],
  },
  {
    name: 'a pattern of a number',
    text: block('a: {type: integer, pattern: x}'),
    fields: [],
    problems: ['rule_type_mismatch@4'],
  },
  { name: 'half a length', text: gate('- `a` (array, at least 2.5)'), fields: [], problems: ['rule_type_mismatch@3'] },
  {
    name: 'a minimum above the maximum',
    text: block('a: {type: integer, min: 5, max: 3}'),
    fields: [],
    problems: ['rule_type_mismatch@4'],
  },
  {
    name: 'a value beside a bound that it breaks',
    text: gate('- `a` (integer, at least 5, must be 3)'),
    fields: [],
    problems: ['rule_type_mismatch@3'],
  },
  {
    name: 'a value of another type',
    text: block('a: {type: integer, must_be: "3"}'),
    fields: [],
    problems: ['rule_type_mismatch@4'],
  },
  {
    name: 'a field twice in a list',
    text: gate('- `a` (integer)\n- `a` (string)'),
    fields: [],
    problems: ['duplicate_field@4'],
  },
  {
    name: 'a key twice in YAML',
    text: block('a: {type: integer}\na: {type: string}'),
    fields: [],
    problems: ['duplicate_field@5'],
  },
  { name: 'YAML that ends too soon', text: block('a: {type: integer'), fields: [], problems: ['bad_yaml@5'] },
  { name: 'YAML that is no map', text: block('- a'), fields: [], problems: ['bad_yaml@4'] },
  { name: 'YAML with a tag', text: block('a: !!js/function "x"'), fields: [], problems: ['bad_yaml@4'] },
  { name: 'a type missing in YAML', text: block('a: {min: 1}'), fields: [], problems: ['unknown_type@4'] },
  {
    name: 'a misspelled rule in YAML',
    text: block('a: {type: integer, mim: 1}'),
    fields: [],
    problems: ['unknown_validator@4'],
  },
  {
    name: 'a validator nobody knows',
    text: block('a: {type: integer, validator: is_prime}'),
    fields: [],
    problems: ['unknown_validator@4'],
  },
  {
    name: 'a pattern that looks back',
    text: block('a: {type: string, pattern: "(?<=x)y"}'),
    fields: [],
    problems: ['unknown_validator@4'],
  },
  { name: 'the name __proto__', text: block('__proto__: {type: string}'), fields: [], problems: ['unknown_field@4'] },
  {
    name: 'the name __proto__ in a list',
    text: gate('- `__proto__` (string)'),
    fields: [],
    problems: ['unknown_field@3'],
  },
  {
    name: 'a table and a list that disagree about a bound',
    text: gate(
      '| field | type | rule |\n| --- | --- | --- |\n| a | integer | at least 3 |\n\n- `a` (integer, at least 5)',
    ),
    fields: [],
    problems: ['gate_drift@7'],
  },
  {
    name: 'a list that demands less than the block',
    text: `${block('a: {type: integer}\nb: {type: integer}')}\n\n- \`a\` (integer)`,
    fields: [],
    problems: ['gate_drift@5'],
  },
  {
    name: 'a check box that the block does not know',
    text: `${block('a: {type: integer}')}\n\n- [ ] Done {#done}`,
    fields: [],
    problems: ['gate_drift@7'],
  },
  {
    name: 'a sentence that the list does not know',
    text: `You must provide \`other_thing\`.\n\n${gate('- `a` (integer)')}`,
    fields: [],
    problems: ['gate_drift@1'],
  },
  {
    name: 'none, and yet something',
    text: gate('Checkpoint: none\n\n- `a` (integer)'),
    fields: [],
    problems: ['gate_drift@3'],
  },
  {
    name: 'a number in words beyond ten',
    text: gate('Required: `a_count` at least twenty'),
    fields: [],
    problems: ['unknown_validator@3', 'legacy_heuristic@3'],
  },
  {
    name: 'one hundred is not one',
    text: gate('- `a` (integer, at least one hundred)'),
    fields: [],
    problems: ['unknown_validator@3'],
  },
  { name: 'a check box without words', text: gate('- [ ] ✅'), fields: [], problems: ['unknown_field@3'] },
  {
    name: 'a rule over a field that nothing demands',
    text: block('a: {type: integer}\nrules: ["evidence.a >= evidence.b"]'),
    fields: [],
    problems: ['unknown_field@5'],
  },
  {
    name: 'a rule that is no expression',
    text: block('a: {type: integer}\nrules: ["evidence.a >="]'),
    fields: [],
    problems: ['contract.invalid_expression@5'],
  },
  {
    name: 'a rule that is code',
    text: block('a: {type: integer}\nrules: ["process.exit()"]'),
    fields: [],
    problems: ['contract.invalid_expression@5'],
  },
  {
    name: 'front matter is no requirement',
    text: 'Read.',
    head: 'x-note: "Required: `a` count"\n',
    fields: [],
    problems: ['no_gate_section@-1'],
  },
  {
    name: 'a table whose column of fields has another name',
    text: gate('| Name | Type |\n| --- | --- |\n| b | integer |\n\n- `a` (integer)'),
    fields: [],
    problems: ['unknown_field@3'],
  },
  {
    name: 'a table whose header was forgotten',
    text: gate('| b | integer |\n| --- | --- |\n| c | integer |\n\n- `a` (integer)'),
    fields: [],
    problems: ['unknown_field@3'],
  },
  {
    name: 'a table whose line of dashes was forgotten',
    text: gate('| field | type |\n| b | integer |\n\n- `a` (integer)'),
    fields: [],
    problems: ['unknown_field@3'],
  },
  {
    name: 'a rule in a column that is not read',
    text: gate('| field | type | min |\n| --- | --- | --- |\n| a | integer | 3 |'),
    fields: [],
    problems: ['unknown_validator@3'],
  },
  {
    name: 'a name in letters that only look like it',
    text: gate('- `\u0441ount`: how many\n- `a` (integer)'),
    fields: [],
    problems: ['unknown_field@3'],
  },
  {
    name: 'an item whose type stands without parentheses',
    text: gate('- `b` integer, at least 3\n- `a` (integer)'),
    fields: [],
    problems: ['unknown_field@3'],
  },
  {
    name: 'an item that demands in a sentence',
    text: gate('- `b` must be at least 3\n- `a` (integer)'),
    fields: [],
    problems: ['unknown_field@3'],
  },
  {
    name: 'an item whose name is bold',
    text: gate('- **b** (integer, at least 3)\n- `a` (integer)'),
    fields: [],
    problems: ['unknown_field@3'],
  },
  {
    name: 'an item whose name is bold, with its type and rule in words',
    text: gate('- **function_count**: number, must be greater than 0\n- `a` (integer)'),
    fields: [],
    problems: ['unknown_field@3'],
  },
  {
    name: 'an item whose name is bold with its colon, and nothing else',
    text: gate('- **function_count:**\n- `a` (integer)'),
    fields: [],
    problems: ['unknown_field@3'],
  },
  {
    name: 'an item whose bold words demand a number',
    text: gate('- **Function count**: number, must be greater than 0\n- **Tests** - at least 3\n- `a` (integer)'),
    fields: [],
    problems: ['unknown_field@3', 'unknown_field@4'],
  },
  {
    name: 'an item whose name is plain',
    text: gate('- function_count: how many there are\n- `a` (integer)'),
    fields: [],
    problems: ['unknown_field@3'],
  },
  {
    name: 'a named line that stands in no list',
    text: gate('`function_count`: how many there are\n\n**b** (integer)\n\n- `a` (integer)'),
    fields: [],
    problems: ['unknown_field@3', 'unknown_field@5'],
  },
  {
    name: 'a heading that names a field',
    text: gate('- `a` (integer)\n\n#### `function_count`\n\nHow many.\n\n#### b (integer)\n\nAs many.'),
    fields: [],
    problems: ['unknown_field@5', 'unknown_field@9'],
  },
  {
    name: 'a table that names fields in a column of another name',
    text: gate('| Name | About |\n| --- | --- |\n| `function_count` | how many |\n\n- `a` (integer)'),
    fields: [],
    problems: ['unknown_field@3'],
  },
  {
    name: 'an item whose name is HTML',
    text: gate('- <code>b</code> (integer)\n- `a` (integer)'),
    fields: [],
    problems: ['unknown_field@3'],
  },
  {
    name: 'two fields in one item',
    text: gate('- `a` (integer) and `b` (integer)'),
    fields: [],
    problems: ['unknown_field@3'],
  },
  {
    name: 'a check box without its space',
    text: gate('- [] Tests pass {#b}\n- [ ] Done {#a}'),
    fields: [],
    problems: ['unknown_field@3'],
  },
  {
    name: 'a check box with another mark',
    text: gate('- [✓] Tests pass {#b}\n- [ ] Done {#a}'),
    fields: [],
    problems: ['unknown_field@3'],
  },
  {
    name: 'a check box outside a list',
    text: gate('[ ] Tests pass {#b}\n\n- [ ] Done {#a}'),
    fields: [],
    problems: ['unknown_field@3'],
  },
  {
    name: 'a check box that is a link',
    text: gate('- [x] Tests pass {#b}\n- [ ] Done {#a}\n\n[x]: https://example.org'),
    fields: [],
    problems: ['unknown_field@3'],
  },
  {
    name: 'an id in the middle of a check box',
    text: gate('- [ ] Done {#a} and dusted'),
    fields: [],
    problems: ['unknown_field@3'],
  },
  {
    name: 'an id twice',
    text: gate('- [ ] Done {#a}\n- [ ] Dusted {#a}'),
    fields: [],
    problems: ['duplicate_field@4'],
  },
  {
    name: 'items inside HTML',
    text: gate('<div>\n- `b` (integer)\n</div>\n\n- `a` (integer)'),
    fields: [],
    problems: ['unknown_field@3'],
  },
  {
    name: 'a table in HTML',
    text: gate('<table><tr><td>b</td></tr></table>\n\n- `a` (integer)'),
    fields: [],
    problems: ['unknown_field@3'],
  },
  {
    name: 'an evidence block with another tag',
    text: gate('```yaml-evidence\nb: {type: integer}\n```\n\n- `a` (integer)'),
    fields: [],
    problems: ['bad_yaml@3'],
  },
  {
    name: 'required and optional at once',
    text: gate('- `a` (integer, required, optional)'),
    fields: [],
    problems: ['rule_type_mismatch@3'],
  },
  {
    name: 'a gate section in a quote',
    text: '> ### Checkpoint\n\n- `a` (integer)',
    fields: [],
    problems: ['no_gate_section@-1'],
  },
  {
    name: 'a requirement in a quote that the list does not know',
    text: `> Required: \`old\`\n\n${gate('- `a` (integer)')}`,
    fields: [],
    problems: ['gate_drift@1'],
  },
]

const table = (rows: string): string =>
  gate(`| Field | Type | Rule | Description |\n| --- | --- | --- | --- |\n${rows}`)

export const ACCEPTED: readonly Case[] = [
  {
    name: 'a yaml evidence block',
    text: block(
      'count: {type: integer, min: 1, max: 9}\nnames: {type: array, min_length: 2}\nlevel: {type: string, enum: [low, high], optional: true}\nlog: {type: string, grade: artifact}',
    ),
    fields: [
      'count: integer min=1 max=9',
      'names: array minLength=2',
      'level: string enum=["low","high"] optional',
      'log: string artifact',
    ],
  },
  {
    name: 'a table',
    text: table(
      '| `count` | integer | at least 3 | How many |\n| ratio | number | greater than 0 | |\n| names | list | non-empty | |',
    ),
    fields: ['count: integer min=3', 'ratio: number above=0', 'names: array minLength=1'],
  },
  {
    name: 'a table whose column says evidence, without types',
    text: gate(
      '| Evidence | Description |\n| --- | --- |\n| function_count | number of functions |\n| discount_code | a code |',
    ),
    fields: ['function_count: integer', 'discount_code: string'],
    problems: ['legacy_heuristic@5', 'legacy_heuristic@6'],
  },
  {
    name: 'a table about something else is no requirement',
    text: gate('| tool | why |\n| --- | --- |\n| grep | fast |\n\n- `a` (integer)'),
    fields: ['a: integer'],
  },
  {
    name: 'named items',
    text: gate(
      '- `function_count` (integer, at least 1): functions found\n- `note` (string, optional) - a note\n* **`ok`** (boolean)',
    ),
    fields: ['function_count: integer min=1', 'note: string optional', 'ok: boolean'],
  },
  {
    name: 'a boolean that may be false',
    text: gate('- `is_public` (boolean, may be false)'),
    fields: ['is_public: boolean mayBeFalse=true'],
  },
  {
    name: 'a boolean that must be false',
    text: gate('- `has_todo` (boolean, must be false)'),
    fields: ['has_todo: boolean mustBe=false'],
  },
  { name: 'at least three is 3', text: gate('- `a` (integer, at least three)'), fields: ['a: integer min=3'] },
  {
    name: 'at least without a number is more than 0',
    text: gate('- `a` (integer, at least)'),
    fields: ['a: integer min=1'],
  },
  {
    name: 'between and one of',
    text: gate('- `a` (integer, between 2 and five)\n- `b` (string, one of red, green)'),
    fields: ['a: integer min=2 max=5', 'b: string enum=["red","green"]'],
  },
  {
    name: 'check boxes with ids',
    text: gate('- [ ] All functions listed {#functions_listed}\n- [x] Reviewed {#reviewed}'),
    fields: ['functions_listed: boolean', 'reviewed: boolean'],
  },
  {
    name: 'check boxes without ids',
    text: gate('- [ ] All functions listed!'),
    fields: ['all_functions_listed: boolean'],
    problems: ['derived_field_name@3'],
  },
  {
    name: 'a sentence with a code span',
    text: gate('- **Required:** `function_count` at least 3'),
    fields: ['function_count: integer min=3'],
    problems: ['legacy_heuristic@3'],
  },
  {
    name: 'a sentence with bold words',
    text: gate('**Required:** **Function Count**, non-zero'),
    fields: ['function_count: integer min=1'],
    problems: ['legacy_heuristic@3'],
  },
  {
    name: 'a sentence with a snake_case word',
    text: gate('Evidence: the functions_list must contain names'),
    fields: ['functions_list: array minLength=1'],
    problems: ['legacy_heuristic@3'],
  },
  {
    name: 'discount_code is a string',
    text: gate('Must provide `discount_code`'),
    fields: ['discount_code: string'],
    problems: ['legacy_heuristic@3'],
  },
  {
    name: 'a length of a text',
    text: gate('Required: `summary` text, at least 20 characters'),
    fields: ['summary: string minLength=20'],
    problems: ['legacy_heuristic@3'],
  },
  {
    name: 'at least in a sentence without a number',
    text: gate('Required: `method_count` at least'),
    fields: ['method_count: integer min=1'],
    problems: ['legacy_heuristic@3'],
  },
  {
    name: 'an optional sentence',
    text: gate('Evidence: `notes` (optional)'),
    fields: ['notes: string optional'],
    problems: ['legacy_heuristic@3'],
  },
  {
    name: 'not optional is required',
    text: gate('Evidence: `notes` is not optional'),
    fields: ['notes: string'],
    problems: ['legacy_heuristic@3'],
  },
  {
    name: 'a wrapped sentence',
    text: gate('- Must provide `branch_count`, which is\n  greater than ten'),
    fields: ['branch_count: integer min=11'],
    problems: ['legacy_heuristic@3'],
  },
  {
    name: 'two sentences in one paragraph',
    text: gate('Required: `a_count`\nRequired: `b_list`'),
    fields: ['a_count: integer', 'b_list: array'],
    problems: ['legacy_heuristic@3', 'legacy_heuristic@4'],
  },
  {
    name: 'sentences outside any gate section',
    text: 'MUST PROVIDE `output` of the command',
    fields: ['output: string'],
    problems: ['legacy_heuristic@1'],
  },
  {
    name: 'an example is no requirement',
    text: `${gate('- `a` (integer)')}\n\n### Example evidence\n\n- \`b\` (integer)\n\nRequired: \`c\` count`,
    fields: ['a: integer'],
  },
  {
    name: 'a gate section in a gate section is part of it',
    text: '### Validation Gate\n\n#### Evidence\n\n- `a` (integer)',
    fields: ['a: integer'],
  },
  {
    name: 'a list outside the gate section is no requirement',
    text: `- \`b\` (integer)\n\n${gate('- `a` (integer)')}`,
    fields: ['a: integer'],
  },
  {
    name: 'a list that says the same as the block',
    text: `${block('a: {type: integer, min: 1}')}\n\n- \`a\` (integer, at least 1)`,
    fields: ['a: integer min=1'],
  },
  { name: 'a lead-in beside a table', text: gate('**Required evidence:**\n\n- `a` (integer)'), fields: ['a: integer'] },
  { name: 'checkpoint: none in words', text: 'Read.\n\n**Checkpoint:** none', fields: [] },
  { name: 'checkpoint: none in metadata', text: 'Read.', head: 'phases: {1: {checkpoint: none}}\n', fields: [] },
  { name: 'the name constructor', text: gate('- `constructor` (string)'), fields: ['constructor: string'] },
  {
    name: 'a rule over two fields',
    text: block(
      'a: {type: integer}\nb: {type: integer}\nrules: [{when: "evidence.a >= evidence.b", message: "a first"}]',
    ),
    fields: ['a: integer', 'b: integer'],
  },
  {
    name: 'never optional is required',
    text: gate("Evidence: `notes` is never optional\nEvidence: `names` isn't optional"),
    fields: ['notes: string', 'names: string'],
    problems: ['legacy_heuristic@3', 'legacy_heuristic@4'],
  },
  {
    name: 'items of a list in a list, a quote and HTML with empty lines',
    text: gate('- group\n\t- `b` (integer)\n\n> - `c` (integer)\n\n<details>\n\n- `d` (integer)\n\n</details>'),
    fields: ['b: integer', 'c: integer', 'd: integer'],
  },
  {
    name: 'bold and plain items that demand nothing, or explain a field that is demanded',
    text: gate(
      '- `a_count` (integer)\n- **Note**: list what you saw\n- **a_count**: counted by hand, at least once\n- **A count** is what matters\n- a_count: see above\n- read_files: opens it\n- **write_files**: writes it',
    ),
    fields: ['a_count: integer'],
  },
  {
    name: 'tables and headings that name no field',
    text: gate(
      '- `a` (integer)\n\n#### How to count\n\n| When | Who | Tool |\n| --- | --- | --- |\n| first | the agent | `run_tests` |',
    ),
    fields: ['a: integer'],
  },
  {
    name: 'rules in the words of an item without parentheses',
    text: gate(
      '- `a`: number, must be greater than 0\n- `b`: a list of at least 2 names\n- `c`: true when at least 3 tests pass\n- `d`: a note, optional',
    ),
    fields: ['a: integer min=1', 'b: array minLength=2', 'c: boolean', 'd: string optional'],
    problems: ['legacy_heuristic@3', 'legacy_heuristic@4', 'legacy_heuristic@5', 'legacy_heuristic@6'],
  },
  {
    name: 'a least length by the name of its rule',
    text: gate('- `a` (string, min_length_1)\n- `b` (array, min_length: 2)\n- `c` (integer, min_5)'),
    fields: ['a: string minLength=1', 'b: array minLength=2', 'c: integer min=5'],
  },
  {
    name: 'items that demand nothing',
    text: gate('- `a` (integer)\n- `npm test` is run by Phaselock\n- see [the guide](guide.md)\n- [1] a footnote'),
    fields: ['a: integer'],
  },
  {
    name: 'an item about a field of the block',
    text: `${block('a: {type: integer, min: 3}')}\n\n- \`a\` must be counted by hand`,
    fields: ['a: integer min=3'],
  },
  {
    name: 'lines that end as on Windows, with an underlined heading',
    text: 'Checkpoint\r\n---\r\n\r\n- `a` (integer)\r\n',
    fields: ['a: integer'],
  },
  {
    name: 'nothing to demand outside strict mode',
    text: 'Read.',
    head: 'enforcement: {mode: advisory}\n',
    fields: [],
    problems: ['no_gate_section@-1'],
  },
]
