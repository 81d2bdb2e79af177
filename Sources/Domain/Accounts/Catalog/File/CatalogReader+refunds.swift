import Base
import Yams

extension CatalogReader {
    /// The policy for refunds, read as a policy's own file is. If its schema has found a fault already, nothing more is
    /// reported.
    mutating func refunds(_ file: CatalogEntry, _ products: [Catalog.Product]) -> ConsumptionPolicy? {
        guard let node = file["refunds"] else { return nil }
        var faults: [YAMLFault] = []
        StrictObject.catalog["refunds"]?.check(node, "refunds", &faults)
        guard faults.isEmpty else { return nil }
        do throws(YAMLFault) {
            let policy = try ConsumptionPolicy(rules: node, called: "refunds")
            let apps = Set(products.map(\.bundleID))
            if let stranger = policy.apps.subtracting(apps).min() {
                warn(node, "a rule of refunds names \(stranger), which sells nothing here")
            }
            return policy
        } catch {
            complain(error)
            return nil
        }
    }
}
