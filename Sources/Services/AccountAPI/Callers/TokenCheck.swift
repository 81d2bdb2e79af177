import APIKit
import Accounts
package import Base
import Crypto
import Synchronization

/// Checks an app token, and returns the account that it names.
///
/// A signature costs some 50 to 100 µs, and an app sends the same token for minutes. So a token that was found good is kept, by a hash
/// of the whole token, until it expires or the keys change.
package struct TokenCheck: Sendable {
    /// The longest token that is looked at, in bytes. A page of claims takes 2 KiB.
    package static let longest = 8 << 10
    /// How many tokens are kept that were found good, at some 500 bytes each.
    private static let most = 50_000

    private final class Known: Sendable {
        struct State {
            var generation = 0
            var tokens = BoundedTable<SHA256.Digest, VerifiedToken>(most: TokenCheck.most)
        }
        let state = Mutex(State())
    }

    private let keys: TokenKeys
    private let rules: TokenRules
    private let ids: AccountIDTable
    private let now: @Sendable () -> Timestamp
    private let known = Known()

    /// A check.
    /// - Parameter now: the wall clock, by which tokens expire.
    package init(
        _ keys: TokenKeys, _ rules: TokenRules, _ ids: AccountIDTable, now: @escaping @Sendable () -> Timestamp
    ) {
        self.keys = keys
        self.rules = rules
        self.ids = ids
        self.now = now
    }

    /// The caller that a token names.
    /// - Throws: ``TokenRefusal``, or ``APIProblem`` while there are no keys to check it with.
    package func caller(of token: some StringProtocol) async throws -> Caller {
        guard token.utf8.count <= Self.longest else { throw TokenRefusal.malformed }
        let bytes = Array(token.utf8)
        let digest = SHA256.hash(data: bytes)
        guard var current = keys.current else {
            throw APIProblem.unavailable(
                ProblemText("tokens cannot be checked at the moment", "暂时无法核验令牌", "暫時無法核驗權杖"), retryAfter: 5)
        }
        if let verified = known(digest, current.generation) { return try await caller(verified) }
        let parts = try TokenParts(bytes)
        var signer = try signer(of: parts, in: current.set)
        if signer == .unknown {
            // The provider may have a new key of this name.
            guard let newer = await keys.refreshed(), newer.generation != current.generation else {
                throw signer.refusal(of: parts)
            }
            current = newer
            signer = try self.signer(of: parts, in: current.set)
        }
        guard signer == .known else { throw signer.refusal(of: parts) }
        var verified = try rules.claims(parts.claims, at: now())
        let caller = try await caller(verified)
        verified.caller = caller
        keep(verified, digest, current.generation)
        return caller
    }

    /// The caller that a good token names, by the rule of ids as it is now.
    private func caller(_ verified: VerifiedToken) async throws -> Caller {
        let rule = try await ids.rule()
        if let caller = verified.caller, caller.account.rule == rule { return caller }
        guard let account = rule.account(verified.id) else { throw TokenRefusal.account }
        return Caller(account, isServer: false, role: verified.role)
    }

    /// Whether the key that a token was signed with is known.
    private enum Signer: Hashable {
        case known, unknown

        func refusal(of parts: TokenParts) -> TokenRefusal { parts.identifier == nil ? .signature : .unknownKey }
    }

    /// - Throws: ``TokenRefusal`` where other keys would not help: its key is known, and it was not signed by it as it says.
    private func signer(of parts: TokenParts, in set: TokenKeySet) throws(TokenRefusal) -> Signer {
        // All were withdrawn, and the next look may bring others.
        if set.keys.isEmpty { return .unknown }
        let candidates = set.candidates(parts.identifier, parts.algorithm)
        if candidates.contains(where: { $0.hasSigned(parts.signed, parts.signature) }) { return .known }
        if let identifier = parts.identifier {
            let namesakes = set.keys.filter { $0.identifier == identifier }
            if !namesakes.isEmpty {
                throw namesakes.contains { $0.algorithm == parts.algorithm } ? .signature : .algorithm
            }
            // Keys without names are all that there are: no other will be learned by this name.
            if set.keys.allSatisfy({ $0.identifier == nil }) { throw candidates.isEmpty ? .algorithm : .signature }
        } else if candidates.isEmpty {
            throw .algorithm
        }
        return .unknown
    }

    private func known(_ digest: SHA256.Digest, _ generation: Int) -> VerifiedToken? {
        let now = now()
        return known.state.withLock { state in
            guard state.generation == generation, let verified = state.tokens.value(of: digest) else { return nil }
            guard now < verified.expires else {
                state.tokens.remove(digest)
                return nil
            }
            return verified
        }
    }

    private func keep(_ verified: VerifiedToken, _ digest: SHA256.Digest, _ generation: Int) {
        known.state.withLock { state in
            if state.generation < generation {
                state.tokens.removeAll()
                state.generation = generation
            }
            // Found good by keys that are no longer those of now.
            guard state.generation == generation else { return }
            state.tokens.put(verified, for: digest)
        }
    }
}
