/// A password with which a member of the staff opens the pages of the console. A secret.
package struct StaffPassword: Sendable, Hashable {
    /// As it is typed.
    package let text: String

    /// Why a text is not taken as a new password.
    package enum Fault: Error, Sendable, Hashable, CaseIterable, CustomStringConvertible {
        /// It is shorter than ``least``.
        case short
        /// It is longer than ``most``.
        case long
        /// It has control characters: a line end, or what a terminal sends for a key.
        case unseen
        /// It repeats a few characters, or it is the address.
        case plain

        /// One line: what to do.
        package var description: String {
            switch self {
            case .short: "a password has at least \(StaffPassword.least) characters"
            case .long: "a password has at most \(StaffPassword.most) characters"
            case .unseen: "a password has no control characters"
            case .plain: "a password has at least five different characters, and is not the address"
            }
        }
    }

    /// The fewest characters of a new one: longer passwords, and no rules about their kinds (NIST SP 800-63B, 3.1.1).
    package static let least = 12
    /// The most characters.
    package static let most = 128
    /// The most bytes that are read as one: characters take up to four.
    private static let mostBytes = 4 * most

    /// A new password.
    /// - Parameter mail: the address of the member, which is no password.
    package init(new text: String, of mail: String) throws(Fault) {
        let scalars = text.unicodeScalars
        guard scalars.count >= Self.least else { throw .short }
        guard scalars.count <= Self.most else { throw .long }
        guard scalars.allSatisfy({ $0.properties.generalCategory != .control }) else { throw .unseen }
        guard Set(scalars).count >= 5, text.lowercased() != mail.lowercased() else { throw .plain }
        self.text = text
    }

    /// What a member types to log in; nil for a text that can be no password, which is then never hashed.
    package init?(typed text: String) {
        guard !text.isEmpty, text.utf8.count <= Self.mostBytes else { return nil }
        self.text = text
    }

    /// A random one: 20 letters and digits without those that look alike, about 99 bits, in groups of five.
    package static func random() -> StaffPassword {
        var random = SystemRandomNumberGenerator()
        let characters = (0..<20).map { _ in
            Self.alphabet[Int(UInt32.random(in: 0..<UInt32(Self.alphabet.count), using: &random))]
        }
        let groups = stride(from: 0, to: characters.count, by: 5).map { String(characters[$0..<$0 + 5]) }
        return StaffPassword(made: groups.joined(separator: "-"))
    }

    private init(made text: String) { self.text = text }

    private static let alphabet = Array("abcdefghjkmnpqrstuvwxyz23456789")
}

extension StaffPassword: CustomStringConvertible, CustomReflectable {
    /// Never the password.
    package var description: String { "…" }
    /// Never the password, not in a dump either.
    package var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
