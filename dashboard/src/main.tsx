import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient } from './api/session.js'
import { takeCodeFromAddress } from './app/login-code.js'
import { applyTheme } from './app/preferences.js'
import { router } from './app/router.js'
import './ui/all.css'

takeCodeFromAddress()
applyTheme()
const place = document.getElementById('root')
if (place !== null)
  createRoot(place).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  )
