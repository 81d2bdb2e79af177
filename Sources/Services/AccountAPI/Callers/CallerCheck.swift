package import APIKit
import AccountStore
import Accounts
import Base
package import HTTPTypes
package import Logging

/// Identifies the caller: an app by its token, or one of the operator's servers by its key.
package struct CallerCheck: CallerIdentification {
    package typealias Access = AccountAccess

    /// The caller.
    package enum Identity: Sendable, Hashable {
        /// An account's app.
        case app(Caller)
        /// A server of the operator's, by the number of its key, for the account that it names.
        case server(key: Int64, Caller?)
    }

    private let tokens: TokenCheck
    private let serverKeys: ServerKeyTable
    private let ids: AccountIDTable
    private let metrics: CallerMetrics

    /// A check of both.
    package init(
        _ tokens: TokenCheck, _ serverKeys: ServerKeyTable, _ ids: AccountIDTable, _ metrics: CallerMetrics
    ) {
        self.tokens = tokens
        self.serverKeys = serverKeys
        self.ids = ids
        self.metrics = metrics
    }

    private static let idHeader = HTTPField.Name("X-Account-ID")
    private static let tokenHeader = HTTPField.Name("X-Account-Token")

    package func claimsTrust(_ headers: HTTPFields) -> Bool {
        headers[.authorization].flatMap({ BearerText.token(in: $0) })?.hasPrefix(ServerKey.prefix) ?? false
    }

    package func caller(of evidence: CallerEvidence) async throws -> Identity {
        do {
            return try await identity(evidence.headers)
        } catch let refusal as TokenRefusal {
            throw CallerRefusal(refusal.problem) { [metrics] in metrics.refused(refusal) }
        }
    }

    package func rateKey(of caller: Identity) -> String? {
        if case .app(let account) = caller { account.name } else { nil }
    }

    package func metadata(of caller: Identity) -> Logger.Metadata {
        switch caller {
        case .app(let account): return ["app_account_token": "\(account.token)"]
        case .server(let key, let account):
            var metadata: Logger.Metadata = ["server_key": "\(key)"]
            metadata["app_account_token"] = account.map { "\($0.token)" }
            return metadata
        }
    }

    /// The caller that sent these headers.
    /// - Throws: ``TokenRefusal``; or ``APIProblem`` where that cannot be determined now, or the account is missing.
    func identity(_ headers: HTTPFields) async throws -> Identity {
        let values = headers[values: .authorization]
        guard let value = values.first else { throw TokenRefusal.missing }
        // With two headers, a proxy in front may have checked the other one.
        guard values.count == 1, let token = BearerText.token(in: value) else {
            throw values.count == 1 && Self.isBare(value) ? TokenRefusal.scheme : .malformed
        }
        guard token.hasPrefix(ServerKey.prefix) else { return .app(try await tokens.caller(of: token)) }
        guard let key = ServerKey(token) else { throw TokenRefusal.serverKey }
        switch await serverKeys.finding(of: key.digest) {
        case .good(let recorded): return .server(key: recorded.id, try await account(headers))
        case .unknown: throw TokenRefusal.serverKey
        case .unavailable:
            throw APIProblem.unavailable(
                ProblemText("server keys cannot be checked at the moment", "暂时无法核验服务器密钥", "暫時無法核驗伺服器金鑰"))
        }
    }

    /// Whether a token of either kind stands alone, or behind another word than `Bearer`.
    private static func isBare(_ value: String) -> Bool {
        let words = value.split(separator: " ")
        guard value.utf8.count <= TokenCheck.longest, words.count <= 2, let word = words.last.map(String.init),
            words[0].lowercased() != "bearer"
        else { return false }
        return word.hasPrefix(ServerKey.prefix) || (try? TokenParts(Array(word.utf8))) != nil
    }

    /// The account that a server names: by its id, which is never taken for a token, or by its token.
    private func account(_ headers: HTTPFields) async throws -> Caller? {
        let ids = Self.idHeader.map { headers[values: $0] } ?? []
        let tokens = Self.tokenHeader.map { headers[values: $0] } ?? []
        guard let value = ids.first ?? tokens.first else { return nil }
        guard ids.count + tokens.count == 1 else {
            throw APIProblem(
                .accountMissing,
                ProblemText(
                    "name one account, with X-Account-ID or with X-Account-Token",
                    "请用 X-Account-ID 或 X-Account-Token 指明一个账号", "請用 X-Account-ID 或 X-Account-Token 指明一個帳號"))
        }
        guard tokens.isEmpty else {
            guard let token = Self.accountToken(value) else {
                throw APIProblem(
                    .accountMissing,
                    ProblemText(
                        "X-Account-Token takes one appAccountToken: a UUID, not the nil UUID",
                        "X-Account-Token 须为一个 appAccountToken：一个 UUID，且不能为全零",
                        "X-Account-Token 須為一個 appAccountToken：一個 UUID，且不能為全零"))
            }
            return Caller(AccountIdentity(token: token), isServer: true)
        }
        guard let account = try await self.ids.account(value) else {
            throw APIProblem(
                .accountMissing,
                ProblemText(
                    "X-Account-ID takes one id: 1 to 200 printable ASCII characters without spaces, not the nil UUID, and a UUID "
                        + "where STOREHOOK_ACCOUNT_IDS is uuid",
                    "X-Account-ID 须为一个账号 ID：1 到 200 个可打印的 ASCII 字符，不含空格，不能是全零的 UUID",
                    "X-Account-ID 須為一個帳號 ID：1 到 200 個可列印的 ASCII 字元，不含空格，不能是全零的 UUID"))
        }
        return Caller(account, isServer: true)
    }

    private static func accountToken(_ text: String) -> UniqueIdentifier? {
        if case .token(let token) = AccountReference(text) { return token }
        return UniqueIdentifier(text)?.accountToken
    }
}

extension TokenRefusal {
    /// The problem that it is, with what RFC 6750 wants said.
    var problem: APIProblem {
        let challenge =
            self == .missing
            ? #"Bearer realm="storehook""#
            : #"Bearer realm="storehook", error="invalid_token", error_description="\#(detail)""#
        return APIProblem(code, text, headers: [.wwwAuthenticate: challenge], log: ["reason": "\(rawValue)"])
    }
}
