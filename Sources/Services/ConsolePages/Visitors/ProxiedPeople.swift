import APIKit
import AccountStore
import AdminAPI
import Base
import Foundation
import HTTPKit
import HTTPTypes
import Staff
import Synchronization

/// People that a proxy in front of the console has logged in, by its headers: believed from the proxy's addresses, refused from all others.
final class ProxiedPeople: Sendable {
    private struct Noted: Sendable {
        let standing: StaffGroups.Standing
        let at: ContinuousClock.Instant
    }

    private let proxies: TrustedProxies
    private let groups: StaffGroups
    private let people: ProxiedStaff
    private let noted = Mutex(BoundedTable<String, Noted>(most: 2000))

    /// For how long a person who was noted is not noted again.
    private static let freshness: Duration = .seconds(60)

    /// - Parameters:
    ///   - proxies: whose headers are believed.
    ///   - groups: what each group may do.
    init(_ proxies: TrustedProxies, _ groups: StaffGroups, _ people: ProxiedStaff) {
        self.proxies = proxies
        self.groups = groups
        self.people = people
    }

    /// Who asks; nil where no proxy says anything.
    /// - Throws: ``APIKit/APIProblem``, 403, where the headers are not the proxy's, or nothing that the person is in is a group of
    ///   `STOREHOOK_CONSOLE_GROUPS`; `PostgresError`.
    func person(_ evidence: CallerEvidence) async throws -> StaffMember? {
        let users = Self.userHeader.map { evidence.headers[values: $0] } ?? []
        let named = Self.groupsHeader.map { evidence.headers[values: $0] } ?? []
        guard !users.isEmpty || !named.isEmpty else { return nil }
        guard let peer = evidence.peer, proxies.contains(peer) else {
            throw APIProblem(.forbidden, "these headers are the proxy's alone (STOREHOOK_CONSOLE_AUTH)")
        }
        guard users.count == 1, let name = users.first.flatMap({ Self.name($0) }) else {
            throw APIProblem(.forbidden, "the proxy names nobody, or several people")
        }
        let groups = named.flatMap { $0.split(separator: ",").prefix(1000) }
            .map { $0.trimmingCharacters(in: .whitespaces) }
        guard let standing = self.groups.standing(of: groups) else {
            throw APIProblem(
                .forbidden, "none of the groups that you are in may use the console (STOREHOOK_CONSOLE_GROUPS)")
        }
        let person = StaffMember(proxied: name, standing)
        if !isNoted(name, standing) {
            try await people.note(person)
            noted.withLock { $0.put(Noted(standing: standing, at: .now), for: name) }
        }
        return person
    }

    private func isNoted(_ name: String, _ standing: StaffGroups.Standing) -> Bool {
        noted.withLock { noted in
            guard let known = noted.value(of: name) else { return false }
            return known.standing == standing && .now - known.at < Self.freshness
        }
    }

    /// A name as the audit takes it.
    private static func name(_ text: String) -> String? {
        guard (1...ProxiedStaff.longestName).contains(text.unicodeScalars.count),
            text.contains(where: { !$0.isWhitespace }),
            text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else { return nil }
        return text
    }

    private static let userHeader = HTTPField.Name("X-Auth-Request-User")
    private static let groupsHeader = HTTPField.Name("X-Auth-Request-Groups")
}
