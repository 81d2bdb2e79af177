import Base
import Configuration

extension Settings {
    /// The apps served, each with its App Apple ID where it is set.
    ///
    /// `STOREHOOK_APPS` names them. `APPLE_BUNDLE_ID` and `APPLE_APP_ID` are for one app: alone they name it; beside
    /// `STOREHOOK_APPS` they may repeat what it says of one of its apps, or give the number that it leaves out.
    /// - Throws: `CommandFailure` where a setting cannot be read, or the two contradict each other.
    func apps() throws -> [String: Int64?] {
        let (one, number) = (try bundleID(), try appAppleID())
        guard isSet("storehook.apps") else {
            if let one { return [one: number] }
            guard number == nil else {
                throw CommandFailure(
                    "APPLE_APP_ID is set, and no app that it belongs to: set APPLE_BUNDLE_ID, or both as STOREHOOK_APPS",
                    status: .usage)
            }
            return [:]
        }
        var apps = try listedApps()
        if let one, apps[one] == nil {
            throw CommandFailure(
                "APPLE_BUNDLE_ID names \(Self.quoted(one)), which STOREHOOK_APPS leaves out: add it there, or unset one of the two",
                status: .usage)
        }
        guard let number else { return apps }
        guard let app = one ?? (apps.count == 1 ? apps.keys.first : nil) else {
            if apps.values.contains(number) { return apps }
            throw CommandFailure(
                "APPLE_APP_ID is one app's, and STOREHOOK_APPS has none with \(number): name the app in APPLE_BUNDLE_ID, or "
                    + "write bundle.id=\(number) in STOREHOOK_APPS", status: .usage)
        }
        if let listed = apps[app] ?? nil, listed != number {
            throw CommandFailure(
                "APPLE_APP_ID is \(number), and STOREHOOK_APPS has \(listed) for \(Self.quoted(app)): correct one, or unset "
                    + "APPLE_APP_ID", status: .usage)
        }
        apps.updateValue(number, forKey: app)
        return apps
    }

    /// `STOREHOOK_APPS`.
    private func listedApps() throws -> [String: Int64?] {
        var apps: [String: Int64?] = [:]
        for entry in try list("storehook.apps") ?? [] {
            let parts = entry.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let number = parts.count == 2 ? Int64(parts[1]) : nil
            guard let bundleID = parts.first, !bundleID.isEmpty, parts.count == 1 || number != nil else {
                throw CommandFailure(
                    "STOREHOOK_APPS: write bundle.id=AppAppleID, comma-separated: com.example.app=1234567890",
                    status: .usage)
            }
            apps.updateValue(number, forKey: String(bundleID))
        }
        return apps
    }

    /// `APPLE_BUNDLE_ID`: one app's bundle id, nothing beside it.
    func bundleID() throws -> String? {
        guard let value = try text("apple.bundle.id") else { return nil }
        guard !value.contains(where: { $0 == "," || $0 == "=" || $0.isWhitespace }) else {
            throw CommandFailure(
                "APPLE_BUNDLE_ID is one bundle id, as com.example.app; several apps stand in STOREHOOK_APPS",
                status: .usage)
        }
        return value
    }

    /// `APPLE_APP_ID`: that app's App Apple ID.
    private func appAppleID() throws -> Int64? {
        guard let value = try text("apple.app.id") else { return nil }
        guard let number = Int64(value), number > 0 else {
            throw CommandFailure(
                "APPLE_APP_ID must be the app's Apple ID, a whole number as App Store Connect shows it: 1234567890",
                status: .usage)
        }
        return number
    }
}
