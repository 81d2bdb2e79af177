package import APIKit
package import AccountStore
import AdminAPI
import Base
package import HTTPKit
import HTTPTypes
package import Logging
package import Postgres
import ServiceLifecycle
package import Staff

/// The browsers that are logged in at the console, its pages and the admin API alike.
package struct Visitors: SessionCheck {
    /// By which way people come in.
    package enum Way: Sendable {
        /// Members log in here, with passwords.
        case login
        /// A proxy in front logs people in, and says who they are and in which groups.
        case proxy(TrustedProxies, StaffGroups)
    }

    /// What cookies are called and have.
    let cookies: CookieJar
    let sessions: ConsoleSessions
    /// The sessions that are good, by their digests.
    package let table: SessionTable
    private let people: ProxiedPeople?

    /// - Parameters:
    ///   - isSecure: whether browsers speak TLS with the console, or with the proxy in front of it.
    package init(_ way: Way, isSecure: Bool, _ pool: PostgresPool, logger: Logger) {
        cookies = CookieJar(isSecure: isSecure)
        sessions = ConsoleSessions(pool)
        table = SessionTable(sessions, logger: logger)
        switch way {
        case .login: people = nil
        case .proxy(let proxies, let groups): people = ProxiedPeople(proxies, groups, ProxiedStaff(pool))
        }
    }

    /// Whether people log in here.
    var isByLogin: Bool { people == nil }

    /// Whether a request came by a way on which cookies are safe: by TLS, or on this machine alone.
    func isReachedSafely(_ evidence: CallerEvidence) -> Bool { cookies.isSecure || RequestOrigin.isLocal(evidence) }

    /// The caller; nil where it is not logged in.
    /// - Throws: ``APIKit/APIProblem`` where that cannot be found out now, or where the caller is refused.
    func visitor(_ evidence: CallerEvidence) async throws -> Visitor? {
        guard isReachedSafely(evidence) else { return nil }
        if let people {
            guard let person = try await people.person(evidence) else { return nil }
            let form = cookies.value(of: .form, in: evidence.headers)
            return Visitor(member: person, token: form.map { FormToken(of: $0) }, session: nil)
        }
        guard let secret = cookies.value(of: .session, in: evidence.headers).flatMap({ SessionSecret($0) }) else {
            return nil
        }
        switch await table.finding(of: secret.digest) {
        case .unknown: return nil
        case .unavailable:
            throw APIProblem.unavailable(
                ProblemText("sessions cannot be checked at the moment", "暂时无法核验登录状态", "暫時無法核驗登入狀態"))
        case .good:
            guard let member = try await sessions.holder(of: secret) else { return nil }
            return Visitor(member: member, token: FormToken(of: secret.text), session: secret)
        }
    }

    package func member(_ evidence: CallerEvidence) async throws -> StaffMember? {
        guard let visitor = try await visitor(evidence) else { return nil }
        guard RequestOrigin.isOwnPage(evidence) else {
            throw APIProblem(.forbidden, "a session counts for what the console's own pages ask; others send a token")
        }
        if evidence.method != .get, evidence.method != .head {
            let given = Self.tokenHeader.flatMap { evidence.headers[$0] }
            guard let token = visitor.token, token.matches(given) else {
                throw APIProblem(
                    .forbidden, "with a session, X-CSRF-Token has what the forms of the console's pages have")
            }
        }
        return visitor.member
    }

    /// By the sessions that were read last. A proxy says nothing new of a visitor while an answer goes on: such an answer has an end.
    package func isStillGood(_ evidence: CallerEvidence) -> Bool {
        guard isByLogin else { return true }
        guard let secret = cookies.value(of: .session, in: evidence.headers).flatMap({ SessionSecret($0) }) else {
            return false
        }
        if case .unknown = table.remembered(secret.digest) { return false }
        return true
    }

    /// Reads which sessions are good, until graceful shutdown.
    package func run() async throws { try await table.run() }

    private static let tokenHeader = HTTPField.Name("X-CSRF-Token")
}

/// The sessions that are good, with the numbers of their members.
package typealias SessionTable = SecretTable<Int64>

extension SecretTable where Holder == Int64 {
    /// A table that nothing was read into yet.
    convenience init(_ sessions: ConsoleSessions, logger: Logger) {
        self.init(warning: "Could not read which sessions are good", logger: logger) { try await sessions.valid() }
    }
}
