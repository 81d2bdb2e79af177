import Accounts
import AppStoreVerification
import Base
import Configuration
import Foundation

extension Settings {
    /// `STOREHOOK_CONSUMPTION_POLICY`: a YAML file; nil where it is not set. It does not count where the current catalog has refunds.
    func consumptionPolicy() throws -> ConsumptionPolicy? {
        guard let file = try text("storehook.consumption.policy") else { return nil }
        let policy = try Self.consumptionPolicy(file, "STOREHOOK_CONSUMPTION_POLICY: ")
        let served = try verifier().apps
        if let stranger = policy.apps.filter({ served[$0] == nil }).min() {
            throw CommandFailure(
                "STOREHOOK_CONSUMPTION_POLICY: \(file): a rule names \(stranger), which is not served; correct it, or add it to "
                    + "STOREHOOK_APPS", status: .usage)
        }
        return policy
    }

    /// Reads the file of a policy.
    /// - Parameter place: what a fault begins with.
    static func consumptionPolicy(_ file: String, _ place: String = "") throws -> ConsumptionPolicy {
        guard let data = FileManager.default.contents(atPath: file) else {
            throw CommandFailure.unreadable(file, place: place)
        }
        do throws(YAMLFault) {
            return try ConsumptionPolicy(yaml: String(decoding: data, as: UTF8.self))
        } catch {
            throw CommandFailure(
                "\(place)\(file)\(error.line.map { ":\($0)" } ?? ""): \(error.message)", status: .usage)
        }
    }
}
