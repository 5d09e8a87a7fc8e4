export function renderRecording(output: string): string
