// Generated from the OpenAPI document by `npm run generate:api`; not to be edited.

export interface paths {
  '/tasks/claim': {
    post: operations['claimTask']
  }
  '/tasks/transition': {
    post: operations['requestTransition']
  }
  '/tools/execute': {
    post: operations['executeTool']
  }
  '/tools/check': {
    post: operations['checkTool']
  }
  '/tools/batch': {
    post: operations['batchTools']
  }
  '/state/snapshot': {
    get: operations['getSnapshot']
  }
  '/tokens/renew': {
    post: operations['renewToken']
  }
  '/tasks/heartbeat': {
    post: operations['heartbeat']
  }
  '/tasks/release': {
    post: operations['releaseTask']
  }
  '/prompt': {
    get: operations['getPrompt']
  }
  '/tasks/{id}/prompt': {
    get: operations['getTaskPrompt']
  }
  '/prompt/next': {
    post: operations['nextPrompt']
  }
  '/prompt/continue': {
    post: operations['continuePrompt']
  }
  '/usage': {
    post: operations['reportUsage']
  }
  '/phases/{phase}': {
    get: operations['getPhase']
  }
  '/phases/{phase}/complete': {
    post: operations['completePhase']
  }
  '/knowledge/search': {
    post: operations['searchKnowledge']
  }
  '/hooks/claude-code': {
    post: operations['hookClaudeCode']
  }
  '/hooks/codex': {
    post: operations['hookCodex']
  }
  '/hooks/gemini': {
    post: operations['hookGemini']
  }
  '/hooks/cursor': {
    post: operations['hookCursor']
  }
  '/hooks/copilot': {
    post: operations['hookCopilot']
  }
  '/hooks/opencode': {
    post: operations['hookOpencode']
  }
  '/tasks': {
    post: operations['createTask']
    get: operations['listTasks']
  }
  '/tasks/{id}': {
    get: operations['getTask']
    patch: operations['updateTask']
  }
  '/tasks/{id}/timeline': {
    get: operations['getTimeline']
  }
  '/tasks/{id}/cancel': {
    post: operations['cancelTask']
  }
  '/tasks/{id}/park': {
    post: operations['parkTask']
  }
  '/tasks/{id}/resume': {
    post: operations['resumeTask']
  }
  '/tasks/{id}/rewind': {
    post: operations['rewindTask']
  }
  '/tasks/{id}/tree/accept': {
    post: operations['acceptTree']
  }
  '/tasks/{id}/tree/revert': {
    post: operations['revertTree']
  }
  '/tasks/{id}/tools/accept': {
    post: operations['acceptTools']
  }
  '/tasks/{id}/reassign': {
    post: operations['reassignTask']
  }
  '/tasks/{id}/diff': {
    get: operations['getTaskDiff']
  }
  '/tasks/{id}/state': {
    get: operations['getTaskState']
  }
  '/tasks/{id}/install': {
    post: operations['installDependencies']
  }
  '/tasks/{id}/merge': {
    post: operations['mergeTask']
  }
  '/tasks/{id}/handover': {
    post: operations['handOverTask']
  }
  '/tasks/{id}/discard': {
    post: operations['discardTask']
  }
  '/tasks/{id}/metrics': {
    get: operations['getTaskMetrics']
  }
  '/activity': {
    get: operations['getActivity']
  }
  '/inbox': {
    get: operations['getInbox']
  }
  '/runs/{id}/report': {
    get: operations['getRunReport']
  }
  '/tasks/{id}/contents/{hash}': {
    get: operations['getTaskContent']
  }
  '/insights': {
    get: operations['getInsights']
  }
  '/status': {
    get: operations['getStatus']
  }
  '/questions': {
    get: operations['listQuestions']
  }
  '/questions/{id}': {
    get: operations['getQuestion']
  }
  '/questions/{id}/answer': {
    post: operations['answerQuestion']
  }
  '/tasks/{id}/reviewers': {
    post: operations['addReviewer']
  }
  '/tasks/{id}/reviewers/{name}/revoke': {
    post: operations['revokeReviewer']
  }
  '/tasks/{id}/reviews': {
    get: operations['listReviews']
    post: operations['submitReview']
  }
  '/tasks/{id}/artifacts/{type}': {
    get: operations['getArtifact']
  }
  '/tasks/{id}/held-out': {
    get: operations['getHeldOut']
  }
  '/coordinations': {
    post: operations['startCoordination']
    get: operations['listCoordinations']
  }
  '/coordinations/{id}': {
    get: operations['getCoordination']
  }
  '/coordinations/{id}/respond': {
    post: operations['respond']
  }
  '/coordinations/{id}/status': {
    get: operations['coordinationStatus']
  }
  '/coordinations/{id}/agents/{agent}/token': {
    post: operations['participantToken']
  }
  '/coordinations/{id}/cancel': {
    post: operations['cancelCoordination']
  }
  '/agents': {
    post: operations['addAgent']
    get: operations['listAgents']
  }
  '/agents/{id}/revoke': {
    post: operations['revokeAgent']
  }
  '/operators': {
    post: operations['addOperator']
    get: operations['listOperators']
  }
  '/operators/{name}/revoke': {
    post: operations['revokeOperator']
  }
  '/secret/rotate': {
    post: operations['rotateSecret']
  }
  '/contracts': {
    post: operations['addContract']
    get: operations['listContracts']
  }
  '/contracts/{hash}': {
    get: operations['getContract']
  }
  '/approvals': {
    get: operations['listApprovals']
  }
  '/approvals/{id}': {
    get: operations['getApproval']
  }
  '/approvals/{id}/decision': {
    post: operations['decideApproval']
  }
  '/pause': {
    post: operations['pause']
  }
  '/unpause': {
    post: operations['unpause']
  }
  '/contracts/{hash}/text': {
    get: operations['getContractText']
  }
  '/contracts/{hash}/graph': {
    get: operations['getContractGraph']
  }
  '/contracts/{hash}/trust': {
    post: operations['trustContract']
  }
  '/webhooks': {
    get: operations['listWebhooks']
  }
  '/nodes': {
    get: operations['listNodes']
  }
  '/nodes/{id}/adopt': {
    post: operations['adoptNode']
  }
  '/doctor': {
    get: operations['checkServer']
  }
  '/agents/spawn': {
    post: operations['spawnAgent']
  }
  '/agents/{id}': {
    get: operations['showAgent']
  }
  '/agents/{id}/stop': {
    post: operations['stopAgent']
  }
  '/agents/{id}/log': {
    get: operations['agentLog']
  }
  '/agents/{id}/screen': {
    get: operations['agentScreen']
  }
  '/audit/query': {
    get: operations['queryAudit']
  }
  '/audit/recent': {
    get: operations['recentAudit']
  }
  '/audit/stats': {
    get: operations['auditStats']
  }
  '/audit/verify': {
    get: operations['verifyAudit']
  }
  '/login/codes': {
    post: operations['createLoginCode']
  }
  '/session': {
    get: operations['getSession']
  }
  '/logout': {
    post: operations['logout']
  }
  '/sessions': {
    get: operations['listSessions']
  }
  '/sessions/{id}/revoke': {
    post: operations['revokeSession']
  }
  '/passkeys': {
    get: operations['listPasskeys']
    post: operations['addPasskey']
  }
  '/passkeys/options': {
    post: operations['passkeyOptions']
  }
  '/passkeys/{id}/revoke': {
    post: operations['revokePasskey']
  }
  '/passphrase': {
    post: operations['setPassphrase']
  }
  '/confirmations': {
    post: operations['createConfirmation']
  }
  '/login': {
    post: operations['login']
  }
  '/events': {
    get: operations['streamEvents']
  }
  '/coordinations/{id}/stream': {
    get: operations['streamCoordination']
  }
  '/audit/export': {
    get: operations['exportAudit']
  }
  '/metrics/summary': {
    get: operations['metricsSummary']
  }
}

export interface operations {
  /** Claim a task, or get the task back that the agent already holds */
  claimTask: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Letters, digits, `_`, `.`, `-`; at most 64. */
          agent_id: string
          capabilities?: string[]
          /** Letters, digits, `_`, `.`, `-`; at most 64. */
          task_id?: string
          /** The phase token, where it is not in the Authorization header. */
          phase_token?: string
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['Claim']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['no_task_available-or-not_found']
      409: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Request a transition; the answer names every blocker, or has a new token */
  requestTransition: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Letters, digits, `_`, `.`, `-`; at most 64. */
          task_id: string
          current_phase?: string
          target_phase: string
          /** A map from the type of an artifact to its content. */
          artifacts?: { [name: string]: unknown }
          /** Checkpoint fields. */
          evidence?: { [name: string]: unknown }
          /** A map from the name of a claim to true. */
          claims?: { [name: string]: boolean }
          /** The phase token, where it is not in the Authorization header. */
          phase_token?: string
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': (components['schemas']['TransitionMade'] | components['schemas']['TransitionBlocked'] | components['schemas']['TransitionChecking'])
        }
      }
      400: components['responses']['invalid_request-or-no_transition']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      409: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Decide and run a tool call */
  executeTool: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Letters, digits, `_`, `.`, `-`; at most 64. */
          task_id: string
          tool_name: string
          args: { [name: string]: unknown }
          /** Printable ASCII; the same as the header Idempotency-Key. */
          idempotency_key?: string
          /** The phase token, where it is not in the Authorization header. */
          phase_token?: string
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': (components['schemas']['ToolResult'] | components['schemas']['ToolRunning'])
        }
      }
      400: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      409: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Decide and record a tool call without running it */
  checkTool: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Letters, digits, `_`, `.`, `-`; at most 64. */
          task_id: string
          tool_name: string
          args: { [name: string]: unknown }
          /** The phase token, where it is not in the Authorization header. */
          phase_token?: string
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': (components['schemas']['ToolAllowed'] | components['schemas']['ToolRefused'])
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      409: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Up to 32 tool calls, each decided on its own */
  batchTools: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Letters, digits, `_`, `.`, `-`; at most 64. */
          task_id: string
          calls: {
            tool_name: string
            args: { [name: string]: unknown }
          }[]
          /** The phase token, where it is not in the Authorization header. */
          phase_token?: string
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['ToolBatch']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      409: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** A read-only view of the state, under 100 KB */
  getSnapshot: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': (components['schemas']['Snapshot'] | components['schemas']['Overview'] | components['schemas']['ReviewerSnapshot'])
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      409: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** A new token for the same phase and epoch */
  renewToken: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Letters, digits, `_`, `.`, `-`; at most 64. */
          task_id?: string
          /** The phase token, where it is not in the Authorization header. */
          phase_token?: string
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            phase: string
            phase_token: string
            expires_at: string
            allowed_tools: string[]
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      409: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Extend the lease */
  heartbeat: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Letters, digits, `_`, `.`, `-`; at most 64. */
          task_id?: string
          /** The phase token, where it is not in the Authorization header. */
          phase_token?: string
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            task_id: string
            lease_expires_at: (string | null)
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      409: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Give the task back */
  releaseTask: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Letters, digits, `_`, `.`, `-`; at most 64. */
          task_id?: string
          /** Why; kept in the ledger. */
          reason?: string
          /** The phase token, where it is not in the Authorization header. */
          phase_token?: string
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            task: components['schemas']['Task']
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      409: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** The prompt of the phase the task is in, or the interrupt of a rule in its place */
  getPrompt: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['Prompt']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      409: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** What the agent of a task is told now */
  getTaskPrompt: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['TaskPrompt']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: components['responses']['conflict-or-tree_missing']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Claim that something is done: makes the transition that the claim leads to, or answers with an interrupt or the prompt */
  nextPrompt: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Letters, digits, `_`, `.`, `-`; at most 64. */
          task_id?: string
          /** A map from the name of a claim to true. */
          claims?: { [name: string]: boolean }
          /** A map from the type of an artifact to its content. */
          artifacts?: { [name: string]: unknown }
          /** Checkpoint fields. */
          evidence?: { [name: string]: unknown }
          /** The phase token, where it is not in the Authorization header. */
          phase_token?: string
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': (components['schemas']['PromptWithHelp'] | components['schemas']['PromptAfterTransition'] | components['schemas']['PromptAfterBlockers'] | components['schemas']['PromptWhileChecking'])
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      409: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Acknowledge the interrupt that was shown, and get the prompt of the phase */
  continuePrompt: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Letters, digits, `_`, `.`, `-`; at most 64. */
          task_id?: string
          /** The phase token, where it is not in the Authorization header. */
          phase_token?: string
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['Prompt']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      409: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Report tokens that were used; counted once for each `message_id` */
  reportUsage: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Letters, digits, `_`, `.`, `-`; at most 64. */
          task_id?: string
          input_tokens: number
          output_tokens: number
          cache_read_tokens?: number
          cache_creation_tokens?: number
          model?: string
          message_id?: string
          /** The phase token, where it is not in the Authorization header. */
          phase_token?: string
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['Usage']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      409: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** The content of the current phase, or of one that was completed; of no other */
  getPhase: {
    parameters: {
      query?: never
      header?: never
      path: {
        phase: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['Phase']
        }
      }
      400: components['responses']['invalid_request-or-unknown_phase']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Hand in the evidence of the phase; when it holds, the only legal transition is made */
  completePhase: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path: {
        phase: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Letters, digits, `_`, `.`, `-`; at most 64. */
          task_id?: string
          /** Checkpoint fields. */
          evidence: { [name: string]: unknown }
          /** The phase token, where it is not in the Authorization header. */
          phase_token?: string
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': (components['schemas']['PhaseCompleted'] | components['schemas']['WorkflowCompleted'] | components['schemas']['PhaseHeld'] | components['schemas']['PhaseChecking'])
        }
      }
      400: components['responses']['invalid_request-or-unknown_phase']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Passages of the documents that the contract names, found by words and by meaning */
  searchKnowledge: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Letters, digits, `_`, `.`, `-`; at most 64. */
          task_id?: string
          /** Anything; the first 4,000 characters are looked at. */
          query: string
          /** Its id or, in a workflow of documents, its number. */
          phase?: (string | number)
          /** A passage must have all of them. */
          tags?: string[]
          workflow?: string
          /** How many at most; default 5. */
          n_results?: number
          /** The phase token, where it is not in the Authorization header. */
          phase_token?: string
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['KnowledgeFound']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** A hook of Claude Code: decides a call before it is made, counts it afterwards, and leads the session */
  hookClaudeCode: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** One of `PreToolUse`, `PostToolUse`, `PostToolUseFailure`, `UserPromptSubmit`, `SessionStart`, `SubagentStart`, `Stop`, `SubagentStop`, `SessionEnd`, `ConfigChange`, `PreCompact`. */
          hook_event_name: unknown
          [name: string]: unknown
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['ClaudeCodeHookAnswer']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      409: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** A hook of Codex: decides a call before it is made, counts it afterwards, and leads the session */
  hookCodex: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** One of `PreToolUse`, `PostToolUse`, `UserPromptSubmit`, `SessionStart`, `SubagentStart`, `Stop`, `SubagentStop`, `SessionEnd`, `PreCompact`. */
          hook_event_name: unknown
          [name: string]: unknown
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['CodexHookAnswer']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** A hook of Gemini CLI: decides a call before it is made, counts it afterwards, and leads the session */
  hookGemini: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** One of `BeforeTool`, `AfterTool`, `BeforeAgent`, `AfterAgent`, `SessionStart`, `SessionEnd`, `PreCompress`. */
          hook_event_name: unknown
          [name: string]: unknown
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['GeminiHookAnswer']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** A hook of Cursor: decides a call before it is made, counts it afterwards, and leads the session */
  hookCursor: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** One of `preToolUse`, `beforeShellExecution`, `beforeMCPExecution`, `beforeReadFile`, `postToolUse`, `postToolUseFailure`, `afterShellExecution`, `afterFileEdit`, `beforeSubmitPrompt`, `sessionStart`, `subagentStart`, `subagentStop`, `stop`, `sessionEnd`, `preCompact`. */
          hook_event_name: unknown
          [name: string]: unknown
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['CursorHookAnswer']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** A hook of Copilot CLI: decides a call before it is made, counts it afterwards, and leads the session */
  hookCopilot: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** One of `PreToolUse`, `PostToolUse`, `PostToolUseFailure`, `UserPromptSubmit`, `SessionStart`, `SubagentStart`, `SubagentStop`, `Stop`, `SessionEnd`, `PreCompact`. */
          hook_event_name: unknown
          [name: string]: unknown
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['CopilotHookAnswer']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** A call of the plugin for OpenCode: decides a call before it is made and counts it afterwards */
  hookOpencode: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** One of `tool.execute.before`, `tool.execute.after`. */
          hook_event_name: unknown
          [name: string]: unknown
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['OpencodeHookAnswer']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Create a task */
  createTask: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** One line without control characters. */
          title: string
          /** Text without NUL. */
          description?: string
          /** Letters, digits, `_`, `.`, `-`; at most 64. */
          id?: string
          /** Hash or name of a known contract; default: the one the server was started with. */
          contract?: string
          /** Absolute path of the work tree. */
          workspace?: string
          /** Make a work tree for this task alone, from the repository in `workspace`. */
          worktree?: boolean
          /** With `worktree`: ignored paths of the repository that the new tree has too, such as installed packages. */
          take?: string[]
          depends_on?: string[]
          requires?: string[]
          /** Anything; at most 16 KiB of JSON. */
          metadata?: { [name: string]: unknown }
          mode?: ("strict" | "permissive" | "advisory")
          /** Higher is claimed first; default 0. */
          priority?: number
          /** `{examples: [{criterion?, run, stdin?, expect}]}`: run at the gate with `examples_hold`, never shown to an agent. */
          held_out?: { [name: string]: unknown }
          /** `{passphrase}`, or `{id, assertion}` with `id` of POST /confirmations and what the passkey signed. */
          confirmation?: (unknown | unknown)
        }
      }
    }
    responses: {
      201: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['CreatedTask']
        }
      }
      400: components['responses']['invalid_request-or-tool_failed']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: components['responses']['conflict-or-contract.not_enforced_yet']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Tasks, newest first */
  listTasks: {
    parameters: {
      query?: {
        status?: string
        phase?: string
        /** Letters, digits, `_`, `.`, `-`; at most 64. */
        agent_id?: string
        /** With `true`, each task has `progress`: its time in the phase, completed phases and refusals. */
        progress?: ("true" | "false")
        /** How many at most. */
        limit?: number
        /** `next_cursor` of the page before. */
        cursor?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            tasks: components['schemas']['TaskRow'][]
            next_cursor: (string | null)
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** One task */
  getTask: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['TaskDetails']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: components['responses']['conflict-or-tree_missing']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Change title, description, metadata or priority */
  updateTask: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** One line without control characters. */
          title?: string
          /** Text without NUL. */
          description?: string
          /** Anything; at most 16 KiB of JSON. */
          metadata?: { [name: string]: unknown }
          /** Higher is claimed first; default 0. */
          priority?: number
          /** `{passphrase}`, or `{id, assertion}` with `id` of POST /confirmations and what the passkey signed. */
          confirmation?: (unknown | unknown)
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['Task']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: components['responses']['conflict-or-task_not_active-or-tree_missing']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Every event of the task, oldest first */
  getTimeline: {
    parameters: {
      query?: {
        /** Version to start after. */
        after?: number
        /** How many at most. */
        limit?: number
      }
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            events: components['schemas']['Event'][]
            next_after: (number | null)
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: components['responses']['conflict-or-tree_missing']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Cancel the task */
  cancelTask: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Why; kept in the ledger. */
          reason: string
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['Task']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: components['responses']['conflict-or-task_not_active-or-tree_missing']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Park the task until it is resumed */
  parkTask: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Why; kept in the ledger. */
          reason: string
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['Task']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: components['responses']['conflict-or-task_not_active-or-tree_missing']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Resume a parked task */
  resumeTask: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Why; kept in the ledger. */
          reason: string
          /** `{passphrase}`, or `{id, assertion}` with `id` of POST /confirmations and what the passkey signed. */
          confirmation?: (unknown | unknown)
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['Task']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: components['responses']['conflict-or-task_not_active-or-tree_missing']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Return the task to an earlier phase */
  rewindTask: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          to_phase: string
          /** Also restore the work tree as it was in that phase. */
          restore_tree?: boolean
          /** Why; kept in the ledger. */
          reason: string
          /** `{passphrase}`, or `{id, assertion}` with `id` of POST /confirmations and what the passkey signed. */
          confirmation?: (unknown | unknown)
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['RewoundTask']
        }
      }
      400: components['responses']['invalid_request-or-unknown_phase']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: components['responses']['conflict-or-task_not_active-or-tree_missing']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Accept changes of the work tree that no allowed call explains */
  acceptTree: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Why; kept in the ledger. */
          reason: string
          paths?: string[]
          /** `{passphrase}`, or `{id, assertion}` with `id` of POST /confirmations and what the passkey signed. */
          confirmation?: (unknown | unknown)
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['SettledTree']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: components['responses']['conflict-or-task_not_active-or-tree_missing']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Revert changes of the work tree that no allowed call explains */
  revertTree: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Why; kept in the ledger. */
          reason: string
          paths?: string[]
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['SettledTree']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: components['responses']['conflict-or-task_not_active-or-tree_missing']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Accept the upstream tools of a task as their servers list them now */
  acceptTools: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Why; kept in the ledger. */
          reason: string
          /** `{passphrase}`, or `{id, assertion}` with `id` of POST /confirmations and what the passkey signed. */
          confirmation?: (unknown | unknown)
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['AcceptedTools']
        }
      }
      400: components['responses']['invalid_request-or-tool_failed']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: components['responses']['conflict-or-task_not_active-or-tree_missing']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Take the task from its agent; with agent_id, reserve it for that agent */
  reassignTask: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Why; kept in the ledger. */
          reason: string
          /** Letters, digits, `_`, `.`, `-`; at most 64. */
          agent_id?: string
          /** `{passphrase}`, or `{id, assertion}` with `id` of POST /confirmations and what the passkey signed. */
          confirmation?: (unknown | unknown)
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['Task']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: components['responses']['conflict-or-task_not_active-or-tree_missing']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** What changed in the work tree of a task, with the changed lines */
  getTaskDiff: {
    parameters: {
      query?: {
        /** `start` (of the task), `phase` (the current visit) or the number of a visit; default `start`. */
        from?: string
        /** `now`, or the number of a visit whose end is meant; default `now`. */
        to?: string
        /** Only this file, up to 4 MiB of it. */
        path?: string
      }
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['TaskDiff']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: components['responses']['conflict-or-tree_missing']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** A task as it was at an event of the ledger */
  getTaskState: {
    parameters: {
      query?: {
        /** `seq` of an event; default: the newest. */
        at?: number
      }
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['TaskStateAt']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: components['responses']['conflict-or-tree_missing']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Install dependencies for a task, with network, in the sandbox */
  installDependencies: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          command: string[]
          cwd?: string
          /** `{passphrase}`, or `{id, assertion}` with `id` of POST /confirmations and what the passkey signed. */
          confirmation?: (unknown | unknown)
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['InstalledTask']
        }
      }
      400: components['responses']['invalid_request-or-tool_failed']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: components['responses']['conflict-or-task_not_active-or-tree_missing']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Merge the work of a task into a branch of its repository, and remove the task's own work tree */
  mergeTask: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Why; kept in the ledger. */
          reason: string
          /** Merge even if the task is not completed. */
          force?: boolean
          /** Include uncommitted changes: they are committed first. */
          commit?: boolean
          /** The branch; default: the one that the work tree was made from. */
          into?: string
          /** `{passphrase}`, or `{id, assertion}` with `id` of POST /confirmations and what the passkey signed. */
          confirmation?: (unknown | unknown)
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['MergedTask']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: components['responses']['conflict-or-task_not_active-or-tree_missing']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Keep the work of a task as a branch of its repository, and remove the task's own work tree */
  handOverTask: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Why; kept in the ledger. */
          reason: string
          /** Include uncommitted changes: they are committed first. */
          commit?: boolean
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['Task']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: components['responses']['conflict-or-task_not_active-or-tree_missing']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Discard the work of a cancelled task, and remove the task's own work tree */
  discardTask: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Why; kept in the ledger. */
          reason: string
          /** Discard the work of a completed task too. */
          force?: boolean
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['Task']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: components['responses']['conflict-or-task_not_active-or-tree_missing']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** What a task cost: time, tokens, commands, edits, refusals and commits by visit and by phase */
  getTaskMetrics: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['TaskMetrics']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Open tasks and their progress */
  getActivity: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['Activity']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** What waits for an operator, oldest first */
  getInbox: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['Inbox']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Report on a task or a council: refusals by agent, reason, phase and round, time, tokens, gates, answers and votes */
  getRunReport: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': (components['schemas']['TaskReport'] | components['schemas']['CoordinationReport'])
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** The content that an event of the task names by its hash: an artifact, a run, evidence or a review */
  getTaskContent: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
        hash: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['TaskContent']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: components['responses']['conflict-or-tree_missing']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** What past runs show: gates passed at first try, refusals, time and tokens by phase, waiting */
  getInsights: {
    parameters: {
      query?: {
        /** RFC 3339. */
        since?: string
        /** RFC 3339. */
        until?: string
        /** Hash or name; default: all. */
        contract?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['Insights']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** The `status.json` of a run: a task that was claimed, or a council */
  getStatus: {
    parameters: {
      query?: {
        /** Id of the run; default: the newest. Agents: their own task only. */
        run?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['RunStatus']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Questions of agents to the operators; an agent sees those of its own task */
  listQuestions: {
    parameters: {
      query?: {
        /** Only these; default: all. */
        status?: ("open" | "answered" | "withdrawn")
        /** Letters, digits, `_`, `.`, `-`; at most 64. */
        task_id?: string
        /** How many at most. */
        limit?: number
        /** `next_cursor` of the page before. */
        cursor?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            questions: components['schemas']['Question'][]
            next_cursor: (string | null)
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      409: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** One question; agents see those of their own task */
  getQuestion: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['Question']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Answer a question; answers are final */
  answerQuestion: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** One of the options, if any. */
          answer: string
          /** Whether the answer is a text instead of one of the options. */
          other?: boolean
          /** The phase token, where it is not in the Authorization header. */
          phase_token?: string
          /** `{passphrase}`, or `{id, assertion}` with `id` of POST /confirmations and what the passkey signed. */
          confirmation?: (unknown | unknown)
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['Question']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Add a reviewer for this visit to the phase; an older token of the same name no longer works */
  addReviewer: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Letters, digits, `_`, `.`, `-`, a letter or digit first; at most 64. */
          name: string
          /** Lifetime of the token; default: that of a phase token. */
          expires_seconds?: number
          /** `{passphrase}`, or `{id, assertion}` with `id` of POST /confirmations and what the passkey signed. */
          confirmation?: (unknown | unknown)
        }
      }
    }
    responses: {
      201: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['AddedReviewer']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: components['responses']['conflict-or-task_not_active-or-tree_missing']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Revoke a reviewer's token immediately; its report of this visit no longer counts */
  revokeReviewer: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path: {
        id: string
        name: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Why; kept in the ledger. */
          reason: string
          /** `{passphrase}`, or `{id, assertion}` with `id` of POST /confirmations and what the passkey signed. */
          confirmation?: (unknown | unknown)
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['Task']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: components['responses']['conflict-or-task_not_active-or-tree_missing']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Reviewers of a task and what they said; an agent sees those of its own task */
  listReviews: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['ReviewList']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Send a report, which replaces the one before */
  submitReview: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** `{status, summary?, comments?: [{text, path?, line?, resolved?}], blocking_issues?: [text or {text, path?, line?}]}` */
          report: {
            /** `completed` and `approved` finish the review. */
            status: ("in_progress" | "changes_requested" | "completed" | "approved")
            /** Text, not empty. */
            summary?: string
            comments?: {
              /** Text, not empty. */
              text: string
              path?: string
              line?: number
              resolved?: boolean
            }[]
            blocking_issues?: (string | {
              /** Text, not empty. */
              text: string
              path?: string
              line?: number
            })[]
          }
          /** `subject` of the snapshot: the report is refused if the work has changed since. */
          subject?: string
        }
      }
    }
    responses: {
      201: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['SentReview']
        }
      }
      400: components['responses']['invalid_request-or-tool_failed']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** One artifact of a task, whole */
  getArtifact: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
        type: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['ArtifactContent']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** The held-out examples of a task, and how they last failed */
  getHeldOut: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['HeldOut']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Put a question to several agents, who answer and vote until there is a winner */
  startCoordination: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** The question that all agents answer. */
          question: string
          /** `[{id, kind: model, command, remote or scripted, …}]`; their order breaks ties. */
          agents: { [name: string]: unknown }[]
          /** Limits of the council. */
          options?: {
            /** Default: 3. */
            max_new_answers_per_agent?: number
            /** Default: none. */
            max_new_answers_global?: (number | null)
            /** Default: lenient. */
            novelty?: ("lenient" | "balanced" | "strict")
            /** Default: 3. */
            max_attempts?: number
            /** Default: 600. */
            round_timeout_seconds?: number
            /** Default: 1800. */
            timeout_seconds?: number
            /** Default: none. */
            quorum?: (number | null)
            /** Default: false. */
            skip_voting?: boolean
            /** Default: true. */
            allow_self_vote?: boolean
            /** Default: false. */
            final_presentation?: boolean
            /** Tools with which models and programs may look at the work tree; default: none. */
            tools?: ("read_files" | "glob" | "grep" | "search_codebase")[]
          }
        }
      }
    }
    responses: {
      201: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['StartedCoordination']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      409: components['responses']['conflict']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** List councils, newest first */
  listCoordinations: {
    parameters: {
      query?: {
        /** How many at most. */
        limit?: number
        /** `next_cursor` of the page before. */
        cursor?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            coordinations: components['schemas']['CoordinationRow'][]
            next_cursor: (string | null)
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** One council; a participant sees the question, the answers under anonymous ids and what it must do */
  getCoordination: {
    parameters: {
      query?: {
        /** For participants: wait up to this many seconds for something to do. */
        wait?: number
      }
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': (components['schemas']['Coordination'] | components['schemas']['ParticipantView'])
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** One response of a remote agent, judged exactly as a model's */
  respond: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Text of the response besides the calls. */
          text?: string
          /** `[{name: new_answer, arguments: {content}}]` or `[{name: vote, arguments: {agent_id, reason}}]`. */
          tool_calls: {
            name: string
            arguments?: unknown
          }[]
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['ResponseVerdict']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: components['responses']['agents_paused-or-conflict']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** The `status.json` of a council */
  coordinationStatus: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['RunStatus']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Show a remote agent's token again */
  participantToken: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path: {
        id: string
        agent: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** `{passphrase}`, or `{id, assertion}` with `id` of POST /confirmations and what the passkey signed. */
          confirmation?: (unknown | unknown)
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            id: string
            anonymous_id: (string | null)
            token: string
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: components['responses']['conflict']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** End a council immediately */
  cancelCoordination: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Why; kept in the ledger. */
          reason: string
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            id: string
            finish_reason: components['schemas']['FinishReason']
            is_complete: boolean
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: components['responses']['conflict']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Register an agent; a known id gets a new token that replaces the older one (not with the role ci) */
  addAgent: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Letters, digits, `_`, `.`, `-`; at most 64. */
          agent_id: string
          capabilities?: string[]
          /** How the configuration of an agent CLI binds it; kept in the ledger. */
          binding?: {
            /** Letters, digits, `_`, `.`, `-`; at most 64. */
            agent_cli: string
            place: ("session" | "project" | "plugin" | "managed")
            mode: ("tools_only" | "native")
          }
        }
      }
    }
    responses: {
      201: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            agent_id: string
            agent_token: string
            expires_at: string
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      409: components['responses']['conflict']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Agents and what they work on */
  listAgents: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            agents: components['schemas']['Agent'][]
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Revoke the agent's tokens immediately */
  revokeAgent: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Why; kept in the ledger. */
          reason?: string
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            agent_id: string
            revoked: true
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: components['responses']['conflict']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Add an operator; the token is shown once */
  addOperator: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Letters, digits, `_`, `.`, `-`; at most 64. */
          name: string
          /** Letters, digits, `_`, `.`, `-`; at most 64. */
          role?: string
          /** `{passphrase}`, or `{id, assertion}` with `id` of POST /confirmations and what the passkey signed. */
          confirmation?: (unknown | unknown)
        }
      }
    }
    responses: {
      201: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            name: string
            role: (string | null)
            operator_token: string
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      409: components['responses']['conflict']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Operators and their roles */
  listOperators: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            operators: components['schemas']['Operator'][]
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Revoke an operator's token immediately */
  revokeOperator: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path: {
        name: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Why; kept in the ledger. */
          reason?: string
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            name: string
            revoked: true
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: components['responses']['conflict']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Sign new tokens with a new secret; existing tokens stay valid */
  rotateSecret: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Why; kept in the ledger. */
          reason?: string
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            kid: string
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      409: components['responses']['conflict']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Make a contract known, as YAML or JSON text or as an object */
  addContract: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          source?: string
          contract?: { [name: string]: unknown }
          /** `{passphrase}`, or `{id, assertion}` with `id` of POST /confirmations and what the passkey signed. */
          confirmation?: (unknown | unknown)
        }
      }
    }
    responses: {
      201: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['AddedContract']
        }
      }
      400: components['responses']['contract.invalid-or-invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      409: components['responses']['conflict']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Known contracts */
  listContracts: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            contracts: components['schemas']['ContractRow'][]
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** One contract in its canonical form */
  getContract: {
    parameters: {
      query?: never
      header?: never
      path: {
        hash: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            hash: string
            contract: { [name: string]: unknown }
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Approvals that wait for an answer, or were answered */
  listApprovals: {
    parameters: {
      query?: {
        /** Which ones; default `pending`. */
        status?: ("pending" | "decided" | "all")
        /** How many at most. */
        limit?: number
        /** `next_cursor` of the page before. */
        cursor?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            approvals: components['schemas']['Approval'][]
            next_cursor: (string | null)
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** One approval with the content to approve; agents and reviewers see those of their own task */
  getApproval: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['ApprovalDetails']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Approve or reject exactly what the digest names */
  decideApproval: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          decision: ("approve" | "reject")
          /** `digest` of the approval, 64 hexadecimal digits. */
          digest: string
          comment?: string
          /** Where the operator decided; kept in the ledger. */
          channel?: ("in_chat" | "cli" | "dashboard")
          /** The phase token, where it is not in the Authorization header. */
          phase_token?: string
          /** `{passphrase}`, or `{id, assertion}` with `id` of POST /confirmations and what the passkey signed. */
          confirmation?: (unknown | unknown)
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['Approval']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Stop all agents: their calls are refused until unpause */
  pause: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Why; kept in the ledger. */
          reason?: string
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            paused: boolean
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      409: components['responses']['conflict']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Resume all agents */
  unpause: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Why; kept in the ledger. */
          reason?: string
          /** `{passphrase}`, or `{id, assertion}` with `id` of POST /confirmations and what the passkey signed. */
          confirmation?: (unknown | unknown)
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            paused: boolean
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      409: components['responses']['conflict']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** One contract as YAML */
  getContractText: {
    parameters: {
      query?: never
      header?: never
      path: {
        hash: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['ContractText']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** The phases and transitions of a contract, with the open tasks in each */
  getContractGraph: {
    parameters: {
      query?: never
      header?: never
      path: {
        hash: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['ContractGraph']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Trust a contract that the server was started with */
  trustContract: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path: {
        hash: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** `{passphrase}`, or `{id, assertion}` with `id` of POST /confirmations and what the passkey signed. */
          confirmation?: (unknown | unknown)
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            hash: string
            name: string
            version: string
            trusted: true
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: components['responses']['conflict']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** The addresses that get events, with their newest deliveries */
  listWebhooks: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            webhooks: components['schemas']['Webhook'][]
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** The servers that share the ledger */
  listNodes: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            nodes: components['schemas']['Node'][]
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Take over the tasks of a node that has gone for good */
  adoptNode: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Why; kept in the ledger. */
          reason?: string
          /** The folder of its shared trees is lost: they count as they are at the next claim. */
          without_trees?: boolean
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            node: string
            adopted_by: string
            streams: number
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: components['responses']['conflict-or-trees_elsewhere']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** What the server needs and whether it has it */
  checkServer: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            checks: components['schemas']['ServerCheck'][]
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Start an agent on a new task or on one that no agent holds */
  spawnAgent: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** An entry of the contract's `agents`; or give `harness`. */
          agent?: string
          harness?: ("claude-code" | "codex" | "gemini" | "opencode" | "command")
          /** The program; needed where `harness` is `command`. */
          command?: string
          args?: string[]
          model?: string
          /** What it is called; default: a new name. */
          agent_id?: string
          /** Default `subprocess`. */
          adapter?: ("subprocess" | "tmux")
          /** The task to create; or give `task_id`. */
          task?: {
            /** Default: generated. The branch of a separate work tree has this name. */
            id?: string
            /** One line without control characters. */
            title: string
            /** Text without NUL. */
            description?: string
            /** Hash or name of a known contract. */
            contract?: string
            /** Absolute path of the work tree. */
            workspace?: string
            /** Make a work tree for this task alone. */
            worktree?: boolean
            take?: string[]
            /** Anything; at most 16 KiB of JSON. */
            metadata?: { [name: string]: unknown }
            mode?: ("strict" | "permissive" | "advisory")
            /** Higher is claimed first; default 0. */
            priority?: number
          }
          /** Letters, digits, `_`, `.`, `-`; at most 64. */
          task_id?: string
          /** `{passphrase}`, or `{id, assertion}` with `id` of POST /confirmations and what the passkey signed. */
          confirmation?: (unknown | unknown)
        }
      }
    }
    responses: {
      201: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['SpawnedAgent']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['agent_cli_too_old-or-agent_unavailable-or-idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** One agent */
  showAgent: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': (components['schemas']['StartedAgent'] | components['schemas']['Agent'])
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** End an agent that Phaselock started; its task can be claimed again, or is parked */
  stopAgent: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** Why; kept in the ledger. */
          reason?: string
          /** Park its task. */
          park?: boolean
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['StoppedAgent']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: components['responses']['conflict']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** The output of an agent: its end, or everything after `cursor` */
  agentLog: {
    parameters: {
      query?: {
        /** `cursor` of the answer before. */
        cursor?: string
      }
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            agent_id: string
            text: string
            cursor: (string | null)
            more: boolean
            ended: boolean
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** What the window of an agent shows now */
  agentScreen: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            agent_id: string
            screen: string
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: components['responses']['conflict']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Events by filter, newest first */
  queryAudit: {
    parameters: {
      query?: {
        /** Letters, digits, `_`, `.`, `-`; at most 64. */
        task_id?: string
        /** Letters, digits, `_`, `.`, `-`; at most 64. */
        agent_id?: string
        phase?: string
        tool_name?: string
        code?: string
        type?: string
        /** As in the event: `operator:admin`. */
        actor?: string
        /** As in the event: `system`, `task:ID`. */
        stream?: string
        /** Text in the data of the event, in any case. */
        q?: string
        /** Only events after this one. */
        after_seq?: number
        success?: ("true" | "false")
        /** RFC 3339. */
        since?: string
        /** RFC 3339. */
        until?: string
        /** How many at most. */
        limit?: number
        /** `next_cursor` of the page before. */
        cursor?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            events: components['schemas']['Event'][]
            next_cursor: (string | null)
            searched: {
              from: number
              to: number
            }
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** The newest events */
  recentAudit: {
    parameters: {
      query?: {
        /** How many at most. */
        count?: number
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            events: components['schemas']['Event'][]
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Counts by type and by refusal code */
  auditStats: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['LedgerStats']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Verify the whole ledger */
  verifyAudit: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['LedgerCheck']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** A one-time code for the login page, valid for 10 minutes; only with an operator token */
  createLoginCode: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {}
      }
    }
    responses: {
      201: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            code: string
            expires_at: string
            url: string
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      409: components['responses']['conflict']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** The session of the cookie */
  getSession: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['OwnSession']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** End the session of the cookie */
  logout: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {}
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            logged_out: true
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      409: components['responses']['conflict']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Open sessions; an operator with the role ci sees its own */
  listSessions: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            sessions: components['schemas']['Session'][]
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** End a session immediately */
  revokeSession: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {}
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            id: string
            revoked: true
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: components['responses']['conflict']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Your passkeys, and whether you have a passphrase */
  listPasskeys: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            passkeys: components['schemas']['Passkey'][]
            has_passphrase: boolean
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Register the passkey that a browser made: the first in a session from the code of the first start, each further one with a confirmation */
  addPasskey: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** One line without control characters. */
          name: string
          response: { [name: string]: unknown }
          /** `{passphrase}`, or `{id, assertion}` with `id` of POST /confirmations and what the passkey signed. */
          confirmation?: (unknown | unknown)
        }
      }
    }
    responses: {
      201: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            id: string
            name: string
            created_at: string
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      409: components['responses']['conflict']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** The options with which a browser makes a new passkey */
  passkeyOptions: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {}
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            options: {
              rp: {
                id: string
                name: string
              }
              user: {
                id: string
                name: string
                displayName: string
              }
              challenge: string
              pubKeyCredParams: {
                type: "public-key"
                alg: number
              }[]
              timeout: number
              excludeCredentials: {
                id: string
                type: "public-key"
                transports: string[]
              }[]
              authenticatorSelection: { [name: string]: unknown }
              attestation: string
            }
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      409: components['responses']['conflict']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Revoke one of your passkeys, with a confirmation */
  revokePasskey: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** `{passphrase}`, or `{id, assertion}` with `id` of POST /confirmations and what the passkey signed. */
          confirmation?: (unknown | unknown)
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            id: string
            revoked: true
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      409: components['responses']['conflict']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Set or replace your passphrase; replacing needs a confirmation */
  setPassphrase: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          passphrase: string
          /** `{passphrase}`, or `{id, assertion}` with `id` of POST /confirmations and what the passkey signed. */
          confirmation?: (unknown | unknown)
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            has_passphrase: true
          }
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      409: components['responses']['conflict']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** The challenge with which a passkey confirms one act; valid once, for five minutes */
  createConfirmation: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** The operationId of the call. */
          act: ("login" | "claimTask" | "requestTransition" | "executeTool" | "checkTool" | "batchTools" | "renewToken" | "heartbeat" | "releaseTask" | "getPrompt" | "nextPrompt" | "continuePrompt" | "reportUsage" | "getPhase" | "completePhase" | "hookClaudeCode" | "hookCodex" | "hookGemini" | "hookCursor" | "hookCopilot" | "hookOpencode" | "mcp" | "submitReview" | "respond" | "getSnapshot" | "searchKnowledge" | "getStatus" | "listQuestions" | "getQuestion" | "listReviews" | "getTaskMetrics" | "streamEvents" | "getApproval" | "getArtifact" | "getHeldOut" | "getCoordination" | "listTasks" | "getTask" | "getTimeline" | "getTaskDiff" | "getTaskState" | "getTaskPrompt" | "getTaskContent" | "getActivity" | "getInbox" | "getRunReport" | "getInsights" | "listAgents" | "showAgent" | "agentLog" | "agentScreen" | "listOperators" | "listContracts" | "getContract" | "getContractText" | "getContractGraph" | "listWebhooks" | "listNodes" | "checkServer" | "listApprovals" | "listCoordinations" | "coordinationStatus" | "streamCoordination" | "queryAudit" | "recentAudit" | "auditStats" | "verifyAudit" | "exportAudit" | "metricsSummary" | "createLoginCode" | "getSession" | "logout" | "listSessions" | "revokeSession" | "createConfirmation" | "listPasskeys" | "passkeyOptions" | "addPasskey" | "revokePasskey" | "setPassphrase" | "createTask" | "updateTask" | "cancelTask" | "parkTask" | "revertTree" | "mergeTask" | "handOverTask" | "discardTask" | "addAgent" | "revokeAgent" | "stopAgent" | "pause" | "cancelCoordination" | "decideApproval" | "answerQuestion" | "resumeTask" | "rewindTask" | "reassignTask" | "acceptTree" | "installDependencies" | "acceptTools" | "addReviewer" | "revokeReviewer" | "addContract" | "trustContract" | "addOperator" | "revokeOperator" | "rotateSecret" | "adoptNode" | "unpause" | "spawnAgent" | "startCoordination" | "participantToken")
          /** The parameters in its path. */
          params?: { [name: string]: string }
          /** Its body, without `confirmation`. */
          body?: { [name: string]: unknown }
        }
      }
    }
    responses: {
      201: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['ConfirmationChallenge']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      409: components['responses']['conflict']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      422: components['responses']['idempotency_mismatch']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Log in with a one-time code or an operator token; the answer sets the session cookie */
  login: {
    parameters: {
      query?: never
      header?: {
        /** Printable ASCII, 1 to 200 characters. */
        'Idempotency-Key'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': {
          /** The code of a printed link. */
          code?: string
          operator_token?: string
        }
      }
    }
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': {
            operator: {
              name: string
              role: (string | null)
            }
            csrf_token: string
            expires_at: string
          }
        }
      }
      400: components['responses']['invalid_request']
      403: components['responses']['host_not_allowed-or-login_failed-or-not_permitted']
      409: components['responses']['conflict']
      413: components['responses']['payload_too_large']
      415: components['responses']['unsupported_media_type']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Events as they happen (server-sent events); resumable with the header Last-Event-ID */
  streamEvents: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'text/event-stream': components['schemas']['Event']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      409: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** A council as it happens (server-sent events); resumable with the header Last-Event-ID */
  streamCoordination: {
    parameters: {
      query?: never
      header?: never
      path: {
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'text/event-stream': (components['schemas']['Event'] | components['schemas']['StreamedPart'])
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      404: components['responses']['not_found']
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** The ledger as lines of JSON: signed as a whole, or only the events that match */
  exportAudit: {
    parameters: {
      query?: {
        /** Letters, digits, `_`, `.`, `-`; at most 64. */
        task_id?: string
        /** Letters, digits, `_`, `.`, `-`; at most 64. */
        agent_id?: string
        phase?: string
        tool_name?: string
        code?: string
        type?: string
        /** As in the event: `operator:admin`. */
        actor?: string
        /** As in the event: `system`, `task:ID`. */
        stream?: string
        /** Text in the data of the event, in any case. */
        q?: string
        /** Only events after this one. */
        after_seq?: number
        success?: ("true" | "false")
        /** RFC 3339. */
        since?: string
        /** RFC 3339. */
        until?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/x-ndjson': components['schemas']['Event']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
  /** Counts since the start of the server */
  metricsSummary: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      200: { headers: { [name: string]: unknown } } & {
        content: {
          'application/json': components['schemas']['MetricsSummary']
        }
      }
      400: components['responses']['invalid_request']
      401: components['responses']['token_missing']
      403: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      429: components['responses']['rate_limited']
      500: components['responses']['internal_error']
      503: { headers: { [name: string]: unknown } } & {
        content: {
          'application/problem+json': components['schemas']['Problem']
        }
      }
      default: components['responses']['Problem']
    }
  }
}

export interface components {
  responses: {
    Problem: { headers: { [name: string]: unknown } } & {
      content: {
        'application/problem+json': components['schemas']['Problem']
      }
    }
    invalid_request: { headers: { [name: string]: unknown } } & {
      content: {
        'application/problem+json': components['schemas']['Problem']
      }
    }
    token_missing: { headers: { [name: string]: unknown } } & {
      content: {
        'application/problem+json': components['schemas']['Problem']
      }
    }
    'no_task_available-or-not_found': { headers: { [name: string]: unknown } } & {
      content: {
        'application/problem+json': components['schemas']['Problem']
      }
    }
    payload_too_large: { headers: { [name: string]: unknown } } & {
      content: {
        'application/problem+json': components['schemas']['Problem']
      }
    }
    unsupported_media_type: { headers: { [name: string]: unknown } } & {
      content: {
        'application/problem+json': components['schemas']['Problem']
      }
    }
    idempotency_mismatch: { headers: { [name: string]: unknown } } & {
      content: {
        'application/problem+json': components['schemas']['Problem']
      }
    }
    rate_limited: { headers: { [name: string]: unknown } } & {
      content: {
        'application/problem+json': components['schemas']['Problem']
      }
    }
    internal_error: { headers: { [name: string]: unknown } } & {
      content: {
        'application/problem+json': components['schemas']['Problem']
      }
    }
    'invalid_request-or-no_transition': { headers: { [name: string]: unknown } } & {
      content: {
        'application/problem+json': components['schemas']['Problem']
      }
    }
    not_found: { headers: { [name: string]: unknown } } & {
      content: {
        'application/problem+json': components['schemas']['Problem']
      }
    }
    'conflict-or-tree_missing': { headers: { [name: string]: unknown } } & {
      content: {
        'application/problem+json': components['schemas']['Problem']
      }
    }
    'invalid_request-or-unknown_phase': { headers: { [name: string]: unknown } } & {
      content: {
        'application/problem+json': components['schemas']['Problem']
      }
    }
    'invalid_request-or-tool_failed': { headers: { [name: string]: unknown } } & {
      content: {
        'application/problem+json': components['schemas']['Problem']
      }
    }
    'conflict-or-contract.not_enforced_yet': { headers: { [name: string]: unknown } } & {
      content: {
        'application/problem+json': components['schemas']['Problem']
      }
    }
    'conflict-or-task_not_active-or-tree_missing': { headers: { [name: string]: unknown } } & {
      content: {
        'application/problem+json': components['schemas']['Problem']
      }
    }
    conflict: { headers: { [name: string]: unknown } } & {
      content: {
        'application/problem+json': components['schemas']['Problem']
      }
    }
    'agents_paused-or-conflict': { headers: { [name: string]: unknown } } & {
      content: {
        'application/problem+json': components['schemas']['Problem']
      }
    }
    'contract.invalid-or-invalid_request': { headers: { [name: string]: unknown } } & {
      content: {
        'application/problem+json': components['schemas']['Problem']
      }
    }
    'conflict-or-trees_elsewhere': { headers: { [name: string]: unknown } } & {
      content: {
        'application/problem+json': components['schemas']['Problem']
      }
    }
    'agent_cli_too_old-or-agent_unavailable-or-idempotency_mismatch': { headers: { [name: string]: unknown } } & {
      content: {
        'application/problem+json': components['schemas']['Problem']
      }
    }
    'host_not_allowed-or-login_failed-or-not_permitted': { headers: { [name: string]: unknown } } & {
      content: {
        'application/problem+json': components['schemas']['Problem']
      }
    }
  }
  schemas: {
    AcceptedTools: {
      id: string
      title: string
      description: string
      status: components['schemas']['TaskStatus']
      phase: string
      epoch: number
      agent_id: (string | null)
      capabilities: string[]
      contract: components['schemas']['ContractRef']
      depends_on: string[]
      requires: string[]
      workspace: string
      worktree?: components['schemas']['Worktree']
      completed_phases: string[]
      lease_expires_at: (string | null)
      created_at: string
      updated_at: string
      metadata: { [name: string]: unknown }
      mode: (("strict" | "permissive" | "advisory") | null)
      priority: number
      visit: number
      refusals: number
      parked_reason: (string | null)
      stash: (string | null)
      pending_approval: (components['schemas']['PendingApproval'] | null)
      open_questions: number
      reviewers_wanted: {
        name: string
        status: ("wanted" | "registered" | "finished")
        awaited: boolean
      }[]
      claimable_at: (string | null)
      alerts: components['schemas']['Alert'][]
      accepted_tools: { [name: string]: string }
    }
    ActiveTask: {
      id: string
      title: string
      status: components['schemas']['TaskStatus']
      checking: boolean
      phase: string
      visit: number
      agent_id: (string | null)
      phase_seconds: (number | null)
      tokens: number
      tokens_grade: ("observed" | "reported" | "none")
      calls_per_minute: number
      refusals: number
      violation: ({
        rule: string
        diagnostic: string
      } | null)
      pending_approval: (components['schemas']['PendingApproval'] | null)
      open_questions: number
      parked_reason: (string | null)
    }
    Activity: {
      at: string
      tasks: components['schemas']['ActiveTask'][]
      counts: { [name: string]: number }
      paused: (string | null)
      truncated: boolean
    }
    AddedContract: {
      hash: string
      name: string
      version: string
      warnings: components['schemas']['Diagnostic'][]
    }
    AddedReviewer: {
      reviewer: string
      review_token: string
      expires_at: string
    }
    Advanced: {
      phase: string
      status: components['schemas']['TaskStatus']
      warnings: components['schemas']['Blocker'][]
      phase_token: (string | null)
      expires_at: (string | null)
      allowed_tools: string[]
      prompt: (string | null)
    }
    Agent: {
      agent_id: string
      capabilities: string[]
      status: ("idle" | "working" | "revoked" | "reviewing" | "ended")
      task_id: (string | null)
      phase: (string | null)
      last_activity: (string | null)
      registered_at: string
      expires_at: (string | null)
      spawn: (components['schemas']['Spawn'] | null)
      binding: components['schemas']['AgentBinding']
      reliability: {
        refusals: number
        retries: number
        gates_first_try: number
        gates_passed: number
      }
      tokens: {
        input: number
        output: number
      }
      last_call: ({
        tool: string
        at: string
        phase: string
      } | null)
    }
    AgentBinding: {
      kind: ("confined" | "tools_only" | "native" | "project" | "plugin" | "managed" | "hooks" | "rest" | "mcp")
      holds: string
      agent_cli: (string | null)
      mode: (("tools_only" | "native") | null)
    }
    AgentContract: {
      name: string
      version: string
      hash: string
      phases: {
        id: string
        name: string
        description?: string
        allowed_tools?: string[]
        required_artifacts?: {
          type: string
          description: string
        }[]
        evidence?: {
          name: string
          type: string
          description: string
          optional: boolean
        }[]
        gates?: {
          id: string
          type: string
          checks: string[]
        }[]
      }[]
    }
    AgentStatus: {
      status: ("waiting" | "streaming" | "restarting" | "answered" | "voted" | "stopped" | "timeout" | "error" | "completed")
      answer_count: number
      latest_answer_label: (string | null)
      vote_cast: ({
        voted_for_agent: string
        voted_for_label: string
        reason_preview: string
      } | null)
      times_restarted: number
      /** Unix time in seconds, with a fraction. */
      last_activity: (number | null)
      error: ({
        type: string
        message: string
        /** Unix time in seconds, with a fraction. */
        timestamp: number
      } | null)
      reliability: (components['schemas']['ReliabilityRecord'] | null)
    }
    Alert: {
      alert: string
      condition: ("gate_block_rate" | "task_stuck_in_phase" | "approval_waiting")
      limit: number
      message: string
      since: string
    }
    AllowedViolation: {
      code: string
      detail: string
    }
    Approval: {
      id: string
      task_id: string
      task_title: string
      agent_id: (string | null)
      workspace: string
      gate: string
      phase: string
      target_phase: string
      status: ("pending" | "approved" | "rejected" | "expired" | "used" | "void")
      digest: string
      approvers: string[]
      min_approvals: number
      decisions: {
        by: string
        decision: ("approve" | "reject")
        comment: (string | null)
        at: string
        channel: (("in_chat" | "cli" | "dashboard") | null)
      }[]
      artifacts: components['schemas']['Artifact'][]
      evidence: { [name: string]: unknown }
      warnings: components['schemas']['Blocker'][]
      requested_at: string
      expires_at: string
    }
    ApprovalCheck: {
      gate: (string | null)
      artifact: (string | null)
      check: string
      severity: string
      status: ("passed" | "failed" | "warning" | "not_run")
      grade: (components['schemas']['Grade'] | null)
      message: string
    }
    ApprovalDetails: {
      id: string
      task_id: string
      task_title: string
      agent_id: (string | null)
      workspace: string
      gate: string
      phase: string
      target_phase: string
      status: ("pending" | "approved" | "rejected" | "expired" | "used" | "void")
      digest: string
      approvers: string[]
      min_approvals: number
      decisions: {
        by: string
        decision: ("approve" | "reject")
        comment: (string | null)
        at: string
        channel: (("in_chat" | "cli" | "dashboard") | null)
      }[]
      artifacts: components['schemas']['Artifact'][]
      evidence: { [name: string]: unknown }
      warnings: components['schemas']['Blocker'][]
      requested_at: string
      expires_at: string
      contents: { [name: string]: unknown }
      waiting_seconds?: number
      covers?: {
        artifacts: {
          type: string
          sha256: string
        }[]
        tree_hash: (string | null)
      }
      outdated?: boolean
      diff?: components['schemas']['ApprovalDiff']
      checks?: components['schemas']['ApprovalCheck'][]
      refusals?: components['schemas']['PastRefusal'][]
      since_last?: (components['schemas']['SinceLastApproval'] | null)
    }
    ApprovalDiff: {
      from: {
        kind: ("approval" | "start")
        approval_id: (string | null)
        visit: number
        phase: (string | null)
        at: (string | null)
      }
      files: components['schemas']['FileDiff'][]
      totals: {
        files: number
        additions: number
        deletions: number
      }
      truncated: boolean
      available: boolean
      unavailable_reason: (string | null)
    }
    Artifact: {
      type: string
      sha256: string
      bytes: number
      grade: components['schemas']['Grade']
      self_review?: boolean
    }
    ArtifactContent: {
      task_id: string
      type: string
      sha256: string
      bytes: number
      grade: components['schemas']['Grade']
      self_review?: boolean
      phase: string
      visit: number
      /** What the agent handed in. */
      content: unknown
    }
    BatchError: {
      tool_name: string
      error: {
        code: string
        detail: string
        [name: string]: unknown
      }
    }
    BatchResult: {
      tool_name: string
      /** What the tool answers. */
      result: unknown
      logged: true
      decision: ("allowed")
      duration_ms: number
      violation?: components['schemas']['AllowedViolation']
      unenforced?: string[]
      interrupt?: components['schemas']['Interrupt']
      advanced?: components['schemas']['Advanced']
      advancing?: true
      phase_token?: (string | null)
      expires_at?: (string | null)
      allowed_tools?: string[]
    }
    BatchRunning: {
      tool_name: string
      checking: true
      decision: ("allowed")
      result: null
      logged: true
      task_id: string
      phase: string
      allowed_tools?: string[]
      next_step: string
    }
    Blocker: {
      code: string
      gate: (string | null)
      check: (string | null)
      artifact: (string | null)
      message: string
      remedy: string
      severity: ("blocking" | "warning" | "info")
      grade?: components['schemas']['Grade']
      run?: {
        cause: string
        mended_by: string
        remedy: string
        last_lines: string[]
      }
    }
    BlockingIssue: {
      text: string
      path?: string
      line?: number
    }
    Claim: {
      task: components['schemas']['Task']
      phase: string
      phase_token: string
      expires_at: string
      allowed_tools: string[]
      prompt: string
      contract: components['schemas']['AgentContract']
      warnings: components['schemas']['Blocker'][]
    }
    ClaudeCodeHookAnswer: {
      hookSpecificOutput?: {
        hookEventName: string
        permissionDecision?: ("allow" | "deny")
        permissionDecisionReason?: string
        additionalContext?: string
      }
      systemMessage?: string
      decision?: ("block")
      reason?: string
      continue?: boolean
    }
    CodexHookAnswer: {
      hookSpecificOutput?: {
        hookEventName: string
        permissionDecision?: ("deny")
        permissionDecisionReason?: string
        additionalContext?: string
      }
      systemMessage?: string
      decision?: ("block")
      reason?: string
    }
    ConfirmationChallenge: {
      id: string
      challenge: string
      options: {
        challenge: string
        rpId: string
        timeout: number
        allowCredentials: {
          id: string
          type: "public-key"
          transports: string[]
        }[]
        userVerification: string
      }
      text: string
      expires_at: string
    }
    ContractGraph: {
      hash: string
      phases: {
        id: string
        name: string
      }[]
      transitions: {
        from: string
        to: string
        gate: (string | null)
        when: (string | null)
        gates: string[]
        kind: ("forward" | "back")
      }[]
      counts: { [name: string]: number }
      waiting: { [name: string]: number }
      truncated: boolean
    }
    ContractRef: {
      name: string
      version: string
      hash: string
    }
    ContractRow: {
      hash: string
      name: string
      version: string
      origin: string
      registered_at: string
      trusted: boolean
      default: boolean
    }
    ContractText: {
      hash: string
      text: string
      origin: string
    }
    Coordination: {
      id: string
      question: string
      is_consensus: boolean
      options: {
        max_new_answers_per_agent: number
        max_new_answers_global: (number | null)
        novelty: ("lenient" | "balanced" | "strict")
        max_attempts: number
        round_timeout_seconds: number
        timeout_seconds: number
        quorum: (number | null)
        skip_voting: boolean
        allow_self_vote: boolean
        final_presentation: boolean
      }
      tools: string[]
      agents: components['schemas']['CoordinationAgent'][]
      answers: components['schemas']['CoordinationAnswer'][]
      final_presentation: (string | null)
      status: components['schemas']['RunStatus']
    }
    CoordinationAgent: {
      id: string
      anonymous_id: string
      kind: string
      status: ("live" | "stopped" | "failed" | "timed_out")
      round: number
      turns: number
      tokens: {
        input: number
        output: number
        cache_read: number
        cache_write: number
      }
      vote: ({
        voted_for: string
        label: string
        reason: string
      } | null)
    }
    CoordinationAnswer: {
      label: string
      agent_id: string
      anonymous_id: string
      content: string
      verdict: (("approve" | "request_changes") | null)
      at: string
    }
    CoordinationReport: {
      run: {
        id: string
        title: string
        status: string
        phase: string
        started_at: (string | null)
        ended_at: (string | null)
        elapsed_seconds: number
        kind: ("coordination")
        finish_reason_details: (string | null)
      }
      at: string
      refusals: components['schemas']['RefusalCounts']
      buffer_chars_lost: number
      events: number
      truncated: boolean
      result: {
        winner: (string | null)
        label: (string | null)
        is_tie: boolean
        votes: { [name: string]: number }
      }
      agents: {
        id: string
        anonymous_id: string
        status: string
        error: (string | null)
        answers: number
        refusals: number
        buffer_chars_lost: number
        outcome: (string | null)
        unknown_tools: string[]
        tokens: components['schemas']['Tokens']
        rounds: {
          round: number
          seconds: number
          refusals: number
          reasons: string[]
          tokens: {
            input: number
            output: number
            cache_read: number
            cache_write: number
          }
        }[]
      }[]
      answers: {
        agent: string
        label: string
        chars: number
        content: string
        is_cut: boolean
        round: number
        verdict: (("approve" | "request_changes") | null)
        at: string
      }[]
      presentation: (components['schemas']['Presentation'] | null)
      votes: {
        agent: string
        voted_for: string
        label: string
        round: number
        reason: string
        at: string
        stands: boolean
      }[]
      timeline: {
        seconds: number
        agent: (string | null)
        round: (number | null)
        type: string
        what: string
      }[]
    }
    CoordinationRow: {
      id: string
      question: string
      started_at: string
      ended_at: (string | null)
      finish_reason: components['schemas']['FinishReason']
      winner: (string | null)
      agents: number
      answers: number
    }
    CopilotHookAnswer: {
      permissionDecision?: ("allow" | "deny")
      permissionDecisionReason?: string
      additionalContext?: string
      decision?: ("block")
      reason?: string
    }
    CountedTasks: {
      key: string
      count: number
      task_ids: string[]
    }
    CreatedTask: {
      id: string
      title: string
      description: string
      status: components['schemas']['TaskStatus']
      phase: string
      epoch: number
      agent_id: (string | null)
      capabilities: string[]
      contract: components['schemas']['ContractRef']
      depends_on: string[]
      requires: string[]
      workspace: string
      worktree?: components['schemas']['Worktree']
      completed_phases: string[]
      lease_expires_at: (string | null)
      created_at: string
      updated_at: string
      metadata: { [name: string]: unknown }
      mode: (("strict" | "permissive" | "advisory") | null)
      priority: number
      visit: number
      refusals: number
      parked_reason: (string | null)
      stash: (string | null)
      pending_approval: (components['schemas']['PendingApproval'] | null)
      open_questions: number
      reviewers_wanted: {
        name: string
        status: ("wanted" | "registered" | "finished")
        awaited: boolean
      }[]
      claimable_at: (string | null)
      alerts: components['schemas']['Alert'][]
      uncommitted?: {
        paths: string[]
        count: number
      }
    }
    CursorHookAnswer: {
      permission?: ("allow" | "deny")
      decision?: ("allow" | "deny")
      reason?: string
      user_message?: string
      agent_message?: string
      additional_context?: string
      followup_message?: string
      continue?: boolean
    }
    Delivery: {
      at: string
      event: string
      seq: number
      status: ("delivered" | "retrying" | "failed")
      attempts: number
      error: (string | null)
    }
    Diagnostic: {
      severity: ("error" | "warning")
      code: string
      kind?: string
      path: string
      message: string
      remedy: string
      file: string
      line: number
      column: number
      extra?: { [name: string]: unknown }
    }
    DiffHunk: {
      old_start: number
      old_lines: number
      new_start: number
      new_lines: number
      lines: string[]
    }
    Event: {
      seq: number
      stream: string
      version: number
      type: string
      at: string
      actor: string
      epoch: number
      phase: (string | null)
      contract: (string | null)
      /** What the event of this type records. */
      data: { [name: string]: unknown }
      prev_hash: string
      hash: string
    }
    EvidenceField: {
      type: string
      description: string
      required: boolean
      grade: string
      min?: number
      max?: number
      above?: number
      min_length?: number
      pattern?: string
      enum?: unknown[]
      must_be?: unknown
      may_be_false?: boolean
      rules?: string[]
      source?: string
    }
    FileDiff: {
      path: string
      status: ("added" | "modified" | "deleted")
      binary: boolean
      additions: number
      deletions: number
      unexplained: boolean
      other_task: (string | null)
      pinned: boolean
      hunks: components['schemas']['DiffHunk'][]
      omitted: (("binary" | "too_large" | "too_many_files" | "secret" | "not_kept") | null)
    }
    FinishReason: ("in_progress" | "completed" | "timeout" | "error" | "cancelled" | "parked")
    FirstTry: {
      phase: string
      gate: (string | null)
      attempts: number
      passed_first: number
      task_ids: string[]
    }
    GeminiHookAnswer: {
      decision?: ("allow" | "deny")
      reason?: string
      hookSpecificOutput?: {
        hookEventName: string
        additionalContext: string
      }
      systemMessage?: string
    }
    Grade: ("reported" | "artifact" | "observed" | "proved")
    HeldOut: {
      task_id: string
      sha256: (string | null)
      count: number
      failures: number
      examples: { [name: string]: unknown }[]
      last_failure: ({
        criterion: (string | null)
        number: number
        difference: (string | null)
      }[] | null)
    }
    Inbox: {
      items: components['schemas']['InboxItem'][]
      total: number
      truncated: boolean
    }
    InboxItem: {
      kind: ("approval" | "question" | "parked" | "unexplained" | "tree_missing" | "alert" | "contract")
      id: string
      task_id: (string | null)
      task_title: (string | null)
      agent_id: (string | null)
      phase: (string | null)
      since: string
      title: string
      detail: string
      actions: string[]
    }
    Insights: {
      since: string
      until: string
      contract: (string | null)
      tasks: {
        total: number
        completed: number
        cancelled: number
        parked: number
        open: number
      }
      first_try: components['schemas']['FirstTry'][]
      refusals: {
        total: number
        by_code: components['schemas']['CountedTasks'][]
        by_phase: components['schemas']['CountedTasks'][]
        by_agent: components['schemas']['CountedTasks'][]
        matrix: {
          phase: string
          code: string
          count: number
        }[]
      }
      phases: components['schemas']['PhaseInsight'][]
      stuck: components['schemas']['StuckTasks'][]
      approvals: {
        count: number
        waiting: {
          median: number
          p90: number
          max: number
        }
        histogram: {
          up_to_seconds: (number | null)
          count: number
          approval_ids: string[]
        }[]
      }
      per_day: {
        day: string
        completed: number
        refusals: number
      }[]
      truncated: boolean
    }
    InstalledTask: {
      id: string
      title: string
      description: string
      status: components['schemas']['TaskStatus']
      phase: string
      epoch: number
      agent_id: (string | null)
      capabilities: string[]
      contract: components['schemas']['ContractRef']
      depends_on: string[]
      requires: string[]
      workspace: string
      worktree?: components['schemas']['Worktree']
      completed_phases: string[]
      lease_expires_at: (string | null)
      created_at: string
      updated_at: string
      metadata: { [name: string]: unknown }
      mode: (("strict" | "permissive" | "advisory") | null)
      priority: number
      visit: number
      refusals: number
      parked_reason: (string | null)
      stash: (string | null)
      pending_approval: (components['schemas']['PendingApproval'] | null)
      open_questions: number
      reviewers_wanted: {
        name: string
        status: ("wanted" | "registered" | "finished")
        awaited: boolean
      }[]
      claimable_at: (string | null)
      alerts: components['schemas']['Alert'][]
      install: {
        status: ("installed")
        command: string[]
        cwd: string
        exit_code: number
        paths: string[]
        output: string
        duration_ms: number
        notes?: string[]
      }
    }
    Interrupt: {
      kind: ("interrupt")
      text: string
      phase: string
      violation: components['schemas']['RuleViolation']
    }
    KnowledgeFound: {
      results: {
        content: string
        file: string
        section: (string | null)
        start_line: number
        score: number
        tokens: number
        tags: string[]
        phase: (string | null)
      }[]
      total_tokens: number
      retrieval_method: ("hybrid" | "lexical")
      degraded?: true
      hint?: string
      query_time_ms: number
      index_version: number
    }
    LedgerCheck: {
      ok: boolean
      events: number
      streams: number
      checkpoints: number
      problems: {
        code: string
        detail: string
        seq: (number | null)
        stream: (string | null)
        version: (number | null)
      }[]
    }
    LedgerStats: {
      events: number
      streams: number
      by_type: { [name: string]: number }
      by_code: { [name: string]: number }
      first_at: (string | null)
      last_at: (string | null)
    }
    MergedTask: {
      id: string
      title: string
      description: string
      status: components['schemas']['TaskStatus']
      phase: string
      epoch: number
      agent_id: (string | null)
      capabilities: string[]
      contract: components['schemas']['ContractRef']
      depends_on: string[]
      requires: string[]
      workspace: string
      worktree?: components['schemas']['Worktree']
      completed_phases: string[]
      lease_expires_at: (string | null)
      created_at: string
      updated_at: string
      metadata: { [name: string]: unknown }
      mode: (("strict" | "permissive" | "advisory") | null)
      priority: number
      visit: number
      refusals: number
      parked_reason: (string | null)
      stash: (string | null)
      pending_approval: (components['schemas']['PendingApproval'] | null)
      open_questions: number
      reviewers_wanted: {
        name: string
        status: ("wanted" | "registered" | "finished")
        awaited: boolean
      }[]
      claimable_at: (string | null)
      alerts: components['schemas']['Alert'][]
      merge?: {
        into: string
        commit: string
        result: string
        fast_forward: boolean
        already: boolean
      }
    }
    MetricsSummary: {
      events: { [name: string]: number }
      refusals: { [name: string]: number }
      tasks: {
        status: components['schemas']['TaskStatus']
        phase: string
        count: number
      }[]
      gate_pass_rate: (number | null)
      alerts: components['schemas']['TaskAlert'][]
      requests: number
      mean_seconds: (number | null)
    }
    Node: {
      id: string
      /** The server that was asked. */
      own: boolean
      alive: boolean
      url: (string | null)
      program_version: string
      started_at: string
      seen_at: string
      /** Where it keeps what it knows about work trees that nodes share; null: in its state directory. */
      shared_trees: ({
        id: string
        folder: string
      } | null)
    }
    OpenViolation: {
      rule: string
      rule_type: string
      diagnostic: string
      suggestion: string
      metrics_snapshot: { [name: string]: unknown }
      recent_events: {
        at: string
        text: string
      }[]
      action: string
    }
    OpencodeHookAnswer: {
      decision: ("allow" | "deny")
      reason?: string
      context?: string
      note?: string
    }
    Operator: {
      name: string
      role: (string | null)
      added_at: string
      revoked_at: (string | null)
    }
    Overview: {
      task: (components['schemas']['SnapshotTask'] | null)
      current_phase: (string | null)
      task_dependencies: {
        id: string
        status: string
      }[]
      completed_tasks: {
        id: string
        title: string
        completed_at: string
      }[]
      blockers: components['schemas']['Blocker'][]
      phases: {
        id: string
        name: string
      }[]
      agents: {
        agent_id: (string | null)
        task_id: string
        phase: string
        checking: boolean
        binding: (string | null)
        since: string
        waiting_for_reviewers?: string[]
        refused_in_a_row?: number
      }[]
      events: {
        seq: number
        type: string
        at: string
        phase: (string | null)
        code: (string | null)
      }[]
      next_step: string
      counts: {
        by_status: { [name: string]: number }
        active_by_phase: { [name: string]: number }
      }
      truncated: boolean
      tasks: components['schemas']['TaskRow'][]
      paused: (string | null)
      alerts: components['schemas']['TaskAlert'][]
    }
    OwnSession: {
      session_id: string
      operator: {
        name: string
        role: (string | null)
      }
      csrf_token: string
      expires_at: string
      came_from: ("first_code" | "code" | "token")
      confirm: ("never" | "native" | "always")
      passkeys: number
      has_passphrase: boolean
      may_register_passkey: boolean
    }
    ParticipantView: {
      id: string
      question: string
      anonymous_id: string
      round: number
      attempt: number
      max_attempts: number
      answers: {
        agent_id: string
        label: string
        content: string
        verdict: (("approve" | "request_changes") | null)
      }[]
      must: ("new_answer" | "vote" | "new_answer_or_vote" | "present" | "wait" | "none")
      valid_agents: string[]
      needs_verdict: boolean
      is_complete: boolean
      finish_reason: components['schemas']['FinishReason']
      winner: (string | null)
    }
    Passkey: {
      id: string
      name: string
      operator: string
      created_at: string
      last_used_at: (string | null)
    }
    PastArtifact: {
      type: string
      sha256: string
      bytes: number
      grade: components['schemas']['Grade']
      self_review?: boolean
      phase: string
      visit: number
      version: number
      seq: (number | null)
    }
    PastCheck: {
      check: string
      severity: string
      status: ("passed" | "failed" | "warning" | "not_run")
      grade: (components['schemas']['Grade'] | null)
      message: string
      remedy: (string | null)
    }
    PastGate: {
      id: string
      phase: string
      type: string
      status: ("passed" | "blocked" | "waiting" | "not_tried")
      checks: components['schemas']['PastCheck'][]
    }
    PastPhase: {
      id: string
      name: string
      status: ("done" | "current" | "ahead")
      visits: {
        visit: number
        entered_at: string
        left_at: (string | null)
      }[]
    }
    PastRefusal: {
      seq: number
      at: string
      phase: string
      code: string
      detail: string
    }
    PendingApproval: {
      id: string
      digest: string
      expires_at: string
    }
    PendingConsensus: {
      id: string
      voters: string[]
      voted: string[]
      answered: string[]
      gone: string[]
      awaited: string[]
      quorum: (number | null)
      started_at: (string | null)
    }
    Phase: {
      phase_number: (string | number)
      phase_content: components['schemas']['PhaseContent']
      tasks?: {
        current: ({
          id: string
          title: string
          content: string
        } | null)
        done: string[]
        total: number
      }
      artifacts_from_previous: { [name: string]: { [name: string]: unknown } }
      checkpoint_criteria: {
        required_evidence: { [name: string]: components['schemas']['EvidenceField'] }
        min_verified?: number
      }
    }
    PhaseChecking: {
      checkpoint_passed: false
      task_id: (string | null)
      phase: (string | null)
      allowed_tools: string[]
      next_step: string
      checking: true
      message: string
    }
    PhaseCompleted: {
      checkpoint_passed: boolean
      missing_evidence?: string[]
      phase_completed: (string | number)
      status: components['schemas']['TaskStatus']
      warnings: components['schemas']['Blocker'][]
      next_phase: (string | number)
      next_phase_content: (components['schemas']['PhaseContent'] | null)
      tasks?: {
        current: ({
          id: string
          title: string
          content: string
        } | null)
        done: string[]
        total: number
      }
      artifacts_available: { [name: string]: { [name: string]: unknown } }
      phase_token: string
      expires_at: string
      allowed_tools: string[]
    }
    PhaseContent: {
      content: string
      sources: string[]
      total_tokens: number
    }
    PhaseHeld: {
      checkpoint_passed: boolean
      current_phase: (string | number)
      current_phase_content: (components['schemas']['PhaseContent'] | null)
      tasks?: {
        current: ({
          id: string
          title: string
          content: string
        } | null)
        done: string[]
        total: number
      }
      retry: components['schemas']['Retry']
      task_id: string
      phase: string
      allowed_tools: string[]
      next_step: string
      error?: ("incomplete_checkpoint" | "rule_interrupt")
      missing_evidence?: string[]
      required_format?: { [name: string]: components['schemas']['EvidenceField'] }
      examples?: { [name: string]: unknown }
      message?: string
      blockers?: components['schemas']['Blocker'][]
      warnings?: components['schemas']['Blocker'][]
      interrupt?: components['schemas']['Interrupt']
      pending_approval?: components['schemas']['PendingApproval']
    }
    PhaseInsight: {
      phase: string
      visits: number
      seconds: {
        p10: number
        p25: number
        median: number
        p75: number
        p90: number
        max: number
      }
      tokens: {
        median: number
        p90: number
        total: number
      }
      task_ids: string[]
    }
    PhaseMetrics: {
      phase: string
      visits: number
      duration_seconds: number
      tokens: components['schemas']['Tokens']
      turns: number
      commands: {
        count: number
        by_command: {
          command: string
          count: number
        }[]
      }
      edits: {
        count: number
        by_path: {
          path: string
          count: number
        }[]
      }
      tool_calls: number
      refusals: {
        count: number
        by_code: { [name: string]: number }
      }
      interrupts: number
      commits: number
    }
    Presentation: {
      agent: string
      label: string
      chars: number
      content: string
      is_cut: boolean
    }
    Problem: {
      type: string
      title: string
      status: number
      detail: string
      code: ("invalid_request" | "unknown_phase" | "no_transition" | "tool_failed" | "sandbox_unavailable" | "outcome_unknown" | "invalid_regex" | "token_missing" | "token_invalid" | "token_stale" | "token_mismatch" | "forbidden_tool" | "unknown_tool" | "constraint_violation" | "not_permitted" | "login_failed" | "session_ended" | "csrf_token_missing" | "confirmation_required" | "confirmation_invalid" | "host_not_allowed" | "not_found" | "no_task_available" | "conflict" | "already_claimed" | "phase_sequence_violation" | "task_not_active" | "no_active_task" | "agents_paused" | "method_not_allowed" | "payload_too_large" | "unsupported_media_type" | "idempotency_mismatch" | "rate_limited" | "store_unavailable" | "wrong_node" | "trees_elsewhere" | "tree_missing" | "state_unreadable" | "shutting_down" | "confinement_unavailable" | "agent_unavailable" | "agent_cli_too_old" | "knowledge_unavailable" | "internal_error" | "contract.invalid" | "contract.not_enforced_yet" | "missing_artifact" | "invalid_artifact" | "check_failed" | "check_error" | "evidence_stale" | "incomplete_checkpoint" | "claim_missing" | "rule_interrupt" | "unledgered_change" | "consensus_pending" | "approval_pending" | "approval_rejected" | "enforcement_not_live" | "gate_blocked")
      remedy?: string
      next_step?: string
      allowed_tools?: string[]
      blockers?: components['schemas']['Blocker'][]
      retry?: {
        attempt?: number
        max?: number
        text?: string
        [name: string]: unknown
      }
      [name: string]: unknown
    }
    Prompt: {
      kind: ("prompt" | "interrupt")
      text: string
      violation?: components['schemas']['RuleViolation']
      phase: string
    }
    PromptAfterBlockers: {
      allowed: false
      task_id: string
      phase: string
      allowed_tools: string[]
      next_step: string
      phase_token: null
      blockers: components['schemas']['Blocker'][]
      warnings: components['schemas']['Blocker'][]
      retry: components['schemas']['Retry']
      interrupt?: components['schemas']['Interrupt']
      pending_approval?: components['schemas']['PendingApproval']
      pending_consensus?: {
        id: string
      }
      kind: ("prompt" | "interrupt")
      text: string
      violation?: components['schemas']['RuleViolation']
    }
    PromptAfterTransition: {
      allowed: true
      phase: string
      status: components['schemas']['TaskStatus']
      phase_token: (string | null)
      expires_at: (string | null)
      allowed_tools: string[]
      prompt: (string | null)
      warnings: components['schemas']['Blocker'][]
      artifacts: {
        type: string
        sha256: string
        bytes: number
        grade: components['schemas']['Grade']
        self_review?: boolean
        phase: string
      }[]
      violation?: (components['schemas']['AllowedViolation'] | components['schemas']['RuleViolation'])
      completed?: true
      kind: ("prompt" | "interrupt")
      text: string
    }
    PromptWhileChecking: {
      allowed: false
      task_id: (string | null)
      phase: (string | null)
      allowed_tools: string[]
      next_step: string
      checking: true
      phase_token: null
      blockers: components['schemas']['Blocker'][]
      warnings: components['schemas']['Blocker'][]
      kind: ("prompt" | "interrupt")
      text: string
      violation?: components['schemas']['RuleViolation']
    }
    PromptWithHelp: {
      kind: ("prompt" | "interrupt")
      text: string
      violation?: components['schemas']['RuleViolation']
      phase: string
      task_id?: string
      allowed_tools?: string[]
      next_step?: string
    }
    Question: {
      id: string
      task_id: string
      task_title: string
      agent_id: string
      phase: string
      status: ("open" | "answered" | "withdrawn")
      question: string
      options: string[]
      asked_at: string
      answer: (string | null)
      answered_by: (string | null)
      answered_at: (string | null)
    }
    RefusalCounts: {
      count: number
      by_agent: {
        agent: string
        count: number
      }[]
      by_reason: {
        reason: string
        count: number
      }[]
      by_phase: {
        phase: string
        count: number
      }[]
      by_round: {
        round: number
        count: number
      }[]
      rows: {
        agent: string
        reason: string
        phase: string
        round: number
        count: number
      }[]
    }
    ReliabilityRecord: {
      enforcement_attempts: {
        round: number
        attempt: number
        max_attempts: number
        reason: string
        tool_calls: string[]
        error_message: (string | null)
        buffer_preview: string
        buffer_chars: number
        handled: string
        /** Unix time in seconds, with a fraction. */
        timestamp: number
      }[]
      by_round: { [name: string]: {
        count: number
        reasons: string[]
      } }
      unknown_tools: string[]
      workflow_errors: string[]
      total_enforcement_retries: number
      total_buffer_chars_lost: number
      outcome: ("ok" | "non_compliant" | "dropped")
    }
    ResponseVerdict: {
      accepted: boolean
      action?: string
      label?: string
      reason?: string
      message?: string
      asked_again?: boolean
      stopped?: string
      attempt: number
      max_attempts: number
      round: number
      view: components['schemas']['ParticipantView']
    }
    Retry: {
      attempt: number
      max: number
      text: string
    }
    Review: {
      reviewer: string
      phase: string
      visit: number
      token_status: ("open" | "finished" | "revoked" | "expired" | "ended")
      status: (("in_progress" | "changes_requested" | "completed" | "approved") | null)
      counts_as: ((("in_progress" | "changes_requested" | "completed" | "approved") | ("outdated" | "by_implementer")) | null)
      added_at: string
      expires_at: string
      submitted_at: (string | null)
      summary?: string
      comments?: components['schemas']['ReviewComment'][]
      blocking_issues?: components['schemas']['BlockingIssue'][]
    }
    ReviewComment: {
      text: string
      path?: string
      line?: number
      resolved: boolean
    }
    ReviewList: {
      task_id: string
      phase: string
      visit: number
      required_reviews: (string[] | null)
      reviews: components['schemas']['Review'][]
    }
    ReviewReport: {
      status: ("in_progress" | "changes_requested" | "completed" | "approved")
      summary?: string
      comments: components['schemas']['ReviewComment'][]
      blocking_issues: components['schemas']['BlockingIssue'][]
    }
    ReviewerSnapshot: {
      task: {
        id: string
        title: string
        description: string
        status: components['schemas']['TaskStatus']
        phase: string
        visit: number
        agent_id: (string | null)
        contract: components['schemas']['ContractRef']
        completed_phases: string[]
      }
      current_phase: {
        id: string
        name: string
        description: string
      }
      reviewer: string
      expires_at: (string | null)
      required_reviews: (string[] | null)
      reviews: {
        reviewer: string
        status: (("in_progress" | "changes_requested" | "completed" | "approved") | null)
      }[]
      pending_approval: (components['schemas']['PendingApproval'] | null)
      artifacts: {
        type: string
        sha256: string
        bytes: number
        grade: components['schemas']['Grade']
        self_review?: boolean
        phase: string
        visit: number
        content: unknown
      }[]
      held_out?: ({
        sha256: (string | null)
        count: number
        failures: number
        examples: { [name: string]: unknown }[]
        last_failure: ({
          criterion: (string | null)
          number: number
          difference: (string | null)
        }[] | null)
      } | {
        count: number
        examples: null
      })
      report: (components['schemas']['ReviewReport'] | null)
      subject: (string | null)
      allowed_tools: string[]
      next_step: string
      truncated: boolean
    }
    RewoundTask: {
      id: string
      title: string
      description: string
      status: components['schemas']['TaskStatus']
      phase: string
      epoch: number
      agent_id: (string | null)
      capabilities: string[]
      contract: components['schemas']['ContractRef']
      depends_on: string[]
      requires: string[]
      workspace: string
      worktree?: components['schemas']['Worktree']
      completed_phases: string[]
      lease_expires_at: (string | null)
      created_at: string
      updated_at: string
      metadata: { [name: string]: unknown }
      mode: (("strict" | "permissive" | "advisory") | null)
      priority: number
      visit: number
      refusals: number
      parked_reason: (string | null)
      stash: (string | null)
      pending_approval: (components['schemas']['PendingApproval'] | null)
      open_questions: number
      reviewers_wanted: {
        name: string
        status: ("wanted" | "registered" | "finished")
        awaited: boolean
      }[]
      claimable_at: (string | null)
      alerts: components['schemas']['Alert'][]
      restored?: string[]
      restored_count?: number
    }
    RuleViolation: {
      rule: string
      rule_type: string
      diagnostic: string
      suggestion: string
      metrics_snapshot: { [name: string]: unknown }
      recent_events: {
        at: string
        text: string
      }[]
    }
    RunStatus: {
      finish_reason: components['schemas']['FinishReason']
      finish_reason_details: (string | null)
      is_complete: boolean
      meta: {
        /** Unix time in seconds, with a fraction. */
        last_updated: number
        session_id: string
        log_dir: (string | null)
        question: string
        /** Unix time in seconds, with a fraction. */
        start_time: number
        elapsed_seconds: number
      }
      coordination: {
        phase: string
        active_agent: (string | null)
        completion_percentage: number
        is_final_presentation: boolean
        checking?: boolean
      }
      agents: { [name: string]: components['schemas']['AgentStatus'] }
      results: {
        votes: { [name: string]: number }
        winner: (string | null)
        is_tie: boolean
        final_answer_preview: (string | null)
      }
    }
    SentReview: {
      task_id: string
      reviewer: string
      status: (("in_progress" | "changes_requested" | "completed" | "approved") | null)
      finished: boolean
      subject: (string | null)
    }
    ServerCheck: {
      name: string
      status: ("ok" | "warning" | "problem")
      detail: string
      remedy: string
    }
    Session: {
      id: string
      operator: string
      came_from: ("first_code" | "code" | "token")
      created_at: string
      last_used_at: string
      expires_at: string
      user_agent: string
      current: boolean
    }
    SettledTree: {
      id: string
      title: string
      description: string
      status: components['schemas']['TaskStatus']
      phase: string
      epoch: number
      agent_id: (string | null)
      capabilities: string[]
      contract: components['schemas']['ContractRef']
      depends_on: string[]
      requires: string[]
      workspace: string
      worktree?: components['schemas']['Worktree']
      completed_phases: string[]
      lease_expires_at: (string | null)
      created_at: string
      updated_at: string
      metadata: { [name: string]: unknown }
      mode: (("strict" | "permissive" | "advisory") | null)
      priority: number
      visit: number
      refusals: number
      parked_reason: (string | null)
      stash: (string | null)
      pending_approval: (components['schemas']['PendingApproval'] | null)
      open_questions: number
      reviewers_wanted: {
        name: string
        status: ("wanted" | "registered" | "finished")
        awaited: boolean
      }[]
      claimable_at: (string | null)
      alerts: components['schemas']['Alert'][]
      paths: string[]
      path_count: number
    }
    SinceLastApproval: {
      approval_id: string
      decision: ("approve" | "reject" | "pending" | "approved" | "rejected" | "expired" | "used" | "void")
      comment: string
      by: (string | null)
      at: string
      changed_artifacts: string[]
      changed_paths: (string[] | null)
    }
    Snapshot: {
      task: (components['schemas']['SnapshotTask'] | null)
      current_phase: (string | null)
      task_dependencies: {
        id: string
        status: string
      }[]
      completed_tasks: {
        id: string
        title: string
        completed_at: string
      }[]
      blockers: components['schemas']['Blocker'][]
      phases: {
        id: string
        name: string
      }[]
      agents: {
        agent_id: (string | null)
        task_id: string
        phase: string
        checking: boolean
        binding: (string | null)
        since: string
        waiting_for_reviewers?: string[]
        refused_in_a_row?: number
      }[]
      events: {
        seq: number
        type: string
        at: string
        phase: (string | null)
        code: (string | null)
      }[]
      next_step: string
      counts: {
        by_status: { [name: string]: number }
        active_by_phase: { [name: string]: number }
      }
      truncated: boolean
    }
    SnapshotTask: {
      id: string
      title: string
      description: string
      status: components['schemas']['TaskStatus']
      phase: string
      epoch: number
      agent_id: (string | null)
      capabilities: string[]
      contract: components['schemas']['ContractRef']
      depends_on: string[]
      requires: string[]
      workspace: string
      worktree?: components['schemas']['Worktree']
      completed_phases: string[]
      lease_expires_at: (string | null)
      created_at: string
      updated_at: string
      metadata: { [name: string]: unknown }
      mode: (("strict" | "permissive" | "advisory") | null)
      priority: number
      visit: number
      refusals: number
      parked_reason: (string | null)
      stash: (string | null)
      pending_approval: (components['schemas']['PendingApproval'] | null)
      open_questions: number
      reviewers_wanted: {
        name: string
        status: ("wanted" | "registered" | "finished")
        awaited: boolean
      }[]
      claimable_at: (string | null)
      alerts: components['schemas']['Alert'][]
      checking: boolean
    }
    Spawn: {
      task_id: string
      state: ("starting" | "running" | "waiting" | "ended")
      role: ("worker" | "reviewer")
      reviewer: (string | null)
      entry: (string | null)
      harness: string
      model: (string | null)
      adapter: string
      restarts: number
      spawned_at: string
      lost: ({
        cause: string
        detail: string
        at: string
      } | null)
      outcome: (string | null)
      reason: (string | null)
      exit_code: (number | null)
      ended_at: (string | null)
      unenforced: string[]
    }
    SpawnedAgent: {
      agent_id: string
      task_id: string
      state: ("starting" | "running" | "waiting" | "ended")
      role: ("worker" | "reviewer")
      reviewer: (string | null)
      entry: (string | null)
      harness: string
      model: (string | null)
      adapter: string
      restarts: number
      spawned_at: string
      lost: ({
        cause: string
        detail: string
        at: string
      } | null)
      outcome: (string | null)
      reason: (string | null)
      exit_code: (number | null)
      ended_at: (string | null)
      unenforced: string[]
      window?: ({
        socket: string
        session: string
      } | null)
      workspace?: string
      worktree?: components['schemas']['Worktree']
      uncommitted?: {
        paths: string[]
        count: number
      }
    }
    StartedAgent: {
      agent_id: string
      task_id: string
      state: ("starting" | "running" | "waiting" | "ended")
      role: ("worker" | "reviewer")
      reviewer: (string | null)
      entry: (string | null)
      harness: string
      model: (string | null)
      adapter: string
      restarts: number
      spawned_at: string
      lost: ({
        cause: string
        detail: string
        at: string
      } | null)
      outcome: (string | null)
      reason: (string | null)
      exit_code: (number | null)
      ended_at: (string | null)
      unenforced: string[]
      window: ({
        socket: string
        session: string
      } | null)
    }
    StartedCoordination: {
      id: string
      agents: {
        id: string
        anonymous_id: (string | null)
        token?: string
      }[]
    }
    StoppedAgent: {
      agent_id: string
      task_id: string
      state: ("starting" | "running" | "waiting" | "ended")
      role: ("worker" | "reviewer")
      reviewer: (string | null)
      entry: (string | null)
      harness: string
      model: (string | null)
      adapter: string
      restarts: number
      spawned_at: string
      lost: ({
        cause: string
        detail: string
        at: string
      } | null)
      outcome: (string | null)
      reason: (string | null)
      exit_code: (number | null)
      ended_at: (string | null)
      unenforced: string[]
      window?: ({
        socket: string
        session: string
      } | null)
    }
    StreamedPart: {
      agent: string
      type: string
      name?: string
      text?: string
    }
    StuckTasks: {
      phase: string
      reason: string
      count: number
      task_ids: string[]
    }
    Task: {
      id: string
      title: string
      description: string
      status: components['schemas']['TaskStatus']
      phase: string
      epoch: number
      agent_id: (string | null)
      capabilities: string[]
      contract: components['schemas']['ContractRef']
      depends_on: string[]
      requires: string[]
      workspace: string
      worktree?: components['schemas']['Worktree']
      completed_phases: string[]
      lease_expires_at: (string | null)
      created_at: string
      updated_at: string
      metadata: { [name: string]: unknown }
      mode: (("strict" | "permissive" | "advisory") | null)
      priority: number
      visit: number
      refusals: number
      parked_reason: (string | null)
      stash: (string | null)
      pending_approval: (components['schemas']['PendingApproval'] | null)
      open_questions: number
      reviewers_wanted: {
        name: string
        status: ("wanted" | "registered" | "finished")
        awaited: boolean
      }[]
      claimable_at: (string | null)
      alerts: components['schemas']['Alert'][]
    }
    TaskAlert: {
      task_id: string
      alert: string
      condition: ("gate_block_rate" | "task_stuck_in_phase" | "approval_waiting")
      limit: number
      message: string
      since: string
    }
    TaskContent: {
      task_id: string
      sha256: string
      kind: ("artifact" | "run" | "baseline" | "evidence" | "review")
      name: string
      seq: number
      at: string
      phase: (string | null)
      /** What was handed in or observed, as it is kept. */
      content: unknown
    }
    TaskDetails: {
      id: string
      title: string
      description: string
      status: components['schemas']['TaskStatus']
      phase: string
      epoch: number
      agent_id: (string | null)
      capabilities: string[]
      contract: components['schemas']['ContractRef']
      depends_on: string[]
      requires: string[]
      workspace: string
      worktree?: components['schemas']['Worktree']
      completed_phases: string[]
      lease_expires_at: (string | null)
      created_at: string
      updated_at: string
      metadata: { [name: string]: unknown }
      mode: (("strict" | "permissive" | "advisory") | null)
      priority: number
      visit: number
      refusals: number
      parked_reason: (string | null)
      stash: (string | null)
      pending_approval: (components['schemas']['PendingApproval'] | null)
      open_questions: number
      reviewers_wanted: {
        name: string
        status: ("wanted" | "registered" | "finished")
        awaited: boolean
      }[]
      claimable_at: (string | null)
      alerts: components['schemas']['Alert'][]
      held_out?: {
        sha256: string
        count: number
        failures: number
      }
      checking: boolean
      lease_seconds: number
      phase_entered_at: (string | null)
      phase_seconds: (number | null)
      rules: {
        open: (components['schemas']['OpenViolation'] | null)
        acknowledged: string[]
        unavailable: string[]
      }
      pending_consensus: (components['schemas']['PendingConsensus'] | null)
      next_step: string
    }
    TaskDiff: {
      task_id: string
      from: {
        kind: ("start" | "phase" | "visit")
        visit: number
        phase: string
        at: (string | null)
      }
      to: {
        kind: ("now" | "end" | "visit")
        visit: number
        phase: string
        at: (string | null)
      }
      files: components['schemas']['FileDiff'][]
      totals: {
        files: number
        additions: number
        deletions: number
      }
      truncated: boolean
      available: boolean
      unavailable_reason: (string | null)
    }
    TaskMetrics: {
      task: {
        id: string
        title: string
        status: components['schemas']['TaskStatus']
        phase: string
        visit: number
      }
      agent_id: (string | null)
      contract: string
      at: string
      visits: components['schemas']['VisitMetrics'][]
      phases: components['schemas']['PhaseMetrics'][]
      totals: {
        visits: number
        duration_seconds: number
        tokens: components['schemas']['Tokens']
        turns: number
        commands: {
          count: number
          by_command: {
            command: string
            count: number
          }[]
        }
        edits: {
          count: number
          by_path: {
            path: string
            count: number
          }[]
        }
        tool_calls: number
        refusals: {
          count: number
          by_code: { [name: string]: number }
        }
        interrupts: number
        commits: number
      }
      outside: {
        tokens: components['schemas']['Tokens']
        turns: number
      }
      events: number
      truncated: boolean
    }
    TaskProgress: {
      visit: number
      phase_entered_at: (string | null)
      completed_phases: string[]
      refusals: number
      pending_approval: (components['schemas']['PendingApproval'] | null)
      parked_reason: (string | null)
      lease_seconds: number
    }
    TaskPrompt: {
      kind: ("prompt" | "interrupt")
      text: string
      violation?: components['schemas']['RuleViolation']
      task_id: string
      phase: string
      allowed_tools: string[]
      next_step: string
    }
    TaskReport: {
      run: {
        id: string
        title: string
        status: string
        phase: string
        started_at: (string | null)
        ended_at: (string | null)
        elapsed_seconds: number
        kind: ("task")
      }
      at: string
      refusals: components['schemas']['RefusalCounts']
      buffer_chars_lost: number
      events: number
      truncated: boolean
      agents: {
        id: string
        refusals: number
        buffer_chars_lost: number
      }[]
      phases: {
        phase: string
        visits: number
        refusals: number
        seconds: number
        tokens: (components['schemas']['Tokens'] | null)
        tool_calls: number
        interrupts: number
      }[]
      visits: {
        phase: string
        visit: number
        entered_by: ("start" | "transition" | "back" | "rewind")
        entered_at: string
        left_at: (string | null)
        seconds: number
        tokens: (components['schemas']['Tokens'] | null)
        tool_calls: number
        interrupts: number
      }[]
      totals: {
        seconds: number
        tokens: (components['schemas']['Tokens'] | null)
        tool_calls: number
        interrupts: number
      }
      gates: {
        passed: number
        blocked: number
        pass_rate: (number | null)
        by_gate: {
          gate: string
          passed: number
          blocked: number
        }[]
      }
      approvals: {
        phase: string
        target_phase: string
        gate: string
        decision: ("approve" | "reject")
        by: string
        channel: (("in_chat" | "cli" | "dashboard") | null)
        at: string
      }[]
      commits: {
        commit: string
        by: string
        at: string
      }[]
      interventions: {
        type: string
        phase: string
        by: string
        reason: string
        paths: string[]
        at: string
      }[]
      evidence: {
        visit: number
        phase: string
        name: string
        grade: string
        run?: {
          command: (string | null)
          passed: (number | null)
          failed: (number | null)
          skipped: (number | null)
          not_loaded?: number
          sigusr1?: string
          inverted?: { [name: string]: number }
        }
      }[]
    }
    TaskRow: {
      id: string
      title: string
      status: components['schemas']['TaskStatus']
      checking: boolean
      phase: string
      agent_id: (string | null)
      contract: string
      depends_on: string[]
      requires: string[]
      priority: number
      lease_expires_at: (string | null)
      open_questions: number
      created_at: string
      updated_at: string
      progress?: (components['schemas']['TaskProgress'] | null)
    }
    TaskStateAt: {
      task_id: string
      at: {
        seq: number
        time: string
        type: string
      }
      last_seq: number
      task: components['schemas']['Task']
      phases: components['schemas']['PastPhase'][]
      artifacts: components['schemas']['PastArtifact'][]
      gates: components['schemas']['PastGate'][]
      approvals: components['schemas']['Approval'][]
      changed_paths: string[]
    }
    TaskStatus: ("queued" | "active" | "awaiting_approval" | "interrupted" | "parked" | "completed" | "cancelled")
    Tokens: {
      input: number
      output: number
      cache_read: number
      cache_write: number
      grade: ("observed" | "reported" | "none")
    }
    ToolAllowed: {
      allowed: true
      allowed_tools: string[]
      violation?: components['schemas']['AllowedViolation']
    }
    ToolBatch: {
      results: (components['schemas']['BatchResult'] | components['schemas']['BatchRunning'] | components['schemas']['BatchError'])[]
      advanced?: components['schemas']['Advanced']
      advancing?: true
      phase_token?: (string | null)
      expires_at?: (string | null)
      allowed_tools?: string[]
    }
    ToolRefused: {
      allowed: false
      code: string
      detail: string
      allowed_tools: string[]
      retry: components['schemas']['Retry']
    }
    ToolResult: {
      /** What the tool answers. */
      result: unknown
      logged: true
      decision: ("allowed")
      duration_ms: number
      violation?: components['schemas']['AllowedViolation']
      unenforced?: string[]
      interrupt?: components['schemas']['Interrupt']
      advanced?: components['schemas']['Advanced']
      advancing?: true
      phase_token?: (string | null)
      expires_at?: (string | null)
      allowed_tools?: string[]
    }
    ToolRunning: {
      checking: true
      decision: ("allowed")
      result: null
      logged: true
      task_id: string
      phase: string
      allowed_tools?: string[]
      next_step: string
    }
    TransitionBlocked: {
      allowed: false
      task_id: string
      phase: string
      allowed_tools: string[]
      next_step: string
      phase_token: null
      blockers: components['schemas']['Blocker'][]
      warnings: components['schemas']['Blocker'][]
      retry: components['schemas']['Retry']
      interrupt?: components['schemas']['Interrupt']
      pending_approval?: components['schemas']['PendingApproval']
      pending_consensus?: {
        id: string
      }
    }
    TransitionChecking: {
      allowed: false
      task_id: (string | null)
      phase: (string | null)
      allowed_tools: string[]
      next_step: string
      checking: true
      phase_token: null
      blockers: components['schemas']['Blocker'][]
      warnings: components['schemas']['Blocker'][]
    }
    TransitionMade: {
      allowed: true
      phase: string
      status: components['schemas']['TaskStatus']
      phase_token: (string | null)
      expires_at: (string | null)
      allowed_tools: string[]
      prompt: (string | null)
      warnings: components['schemas']['Blocker'][]
      artifacts: {
        type: string
        sha256: string
        bytes: number
        grade: components['schemas']['Grade']
        self_review?: boolean
        phase: string
      }[]
      violation?: components['schemas']['AllowedViolation']
      completed?: true
    }
    Usage: {
      tokens: {
        input: number
        output: number
        cache_read: number
        cache_write: number
      }
      usage: ("observed" | "reported" | "none")
      interrupt?: components['schemas']['Interrupt']
    }
    VisitMetrics: {
      phase: string
      visit: number
      entered_by: ("start" | "transition" | "back" | "rewind")
      entered_at: string
      left_at: (string | null)
      duration_seconds: number
      tokens: components['schemas']['Tokens']
      turns: number
      commands: {
        count: number
        by_command: {
          command: string
          count: number
        }[]
      }
      edits: {
        count: number
        by_path: {
          path: string
          count: number
        }[]
      }
      tool_calls: number
      refusals: {
        count: number
        by_code: { [name: string]: number }
      }
      interrupts: number
      commits: number
    }
    Webhook: {
      url: string
      events: string[]
      problem: (string | null)
      last_deliveries: components['schemas']['Delivery'][]
    }
    WorkflowCompleted: {
      checkpoint_passed: boolean
      missing_evidence?: string[]
      phase_completed: (string | number)
      status: components['schemas']['TaskStatus']
      warnings: components['schemas']['Blocker'][]
      workflow_complete: true
      message: string
      phase_token: (string | null)
      expires_at: (string | null)
      allowed_tools: string[]
    }
    Worktree: {
      repository: string
      branch: string
      base: string
      into: (string | null)
      status: ("open" | "merged" | "handed_over" | "discarded")
      commit: (string | null)
    }
  }
}

