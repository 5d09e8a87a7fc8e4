import type { ReactNode } from 'react'

export function Brand(): ReactNode {
  return (
    <svg className="brand__mark" viewBox="0 0 24 24" aria-hidden="true">
      <rect className="brand__tile" width="24" height="24" rx="6" />
      <circle className="brand__sign" cx="12" cy="12" r="4.75" />
      <path className="brand__sign" d="M12 4.5v15" />
    </svg>
  )
}
