/**
 * TempoClaw's identity for the authorization servers of MCP servers (RFC 7591; OAuth client ID metadata documents, MCP
 * revision 2025-11-25).
 */

/** Paths below the installation's public address. */
export const MCP_LOGIN_PATHS = {
  callback: '/v1/mcp/oauth/callback',
  /** The address of the document is our client id. */
  metadata: '/oauth/client-metadata.json',
} as const;

export function mcpClientMetadata(redirectUrl: string) {
  return {
    client_name: 'TempoClaw',
    redirect_uris: [redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
}

/** Where the browser returns to; `base` is the address of the installation. */
export function mcpRedirectUrl(base: string): string {
  return below(base, MCP_LOGIN_PATHS.callback);
}

/**
 * The address of the document, if authorization servers on other machines can read it: under a configured `https`
 * address.
 */
export function mcpClientId(publicUrl: string | undefined): string | undefined {
  return publicUrl?.startsWith('https://') ? below(publicUrl, MCP_LOGIN_PATHS.metadata) : undefined;
}

function below(base: string, path: string): string {
  return base.replace(/\/+$/, '') + path;
}
