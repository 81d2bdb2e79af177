package import APIKit
package import AccountStore
package import ServiceLifecycle

/// Finds the member of the staff who has no token: by the session of a browser, or by what a proxy in front says.
///
/// It runs beside the API, to know which sessions are good.
package protocol SessionCheck: Service {
    /// The member; nil where the request has no session.
    ///
    /// Browsers send cookies with requests that other pages make. So only what the console's own pages ask counts, and of that only what
    /// changes nothing, or shows by a token of the page that the page made it.
    /// - Throws: ``APIKit/APIProblem`` where that cannot be found out now, or where there is one that does not count here.
    func member(_ evidence: CallerEvidence) async throws -> StaffMember?

    /// Whether the session of a request that had one is still good, by what is in memory; true where that is not known.
    func isStillGood(_ evidence: CallerEvidence) -> Bool
}
