package import APIKit
import AccountStore
import AppleRecords
import Base
import HTTPTypes
import Logging

extension ProblemCode {
    /// The member's role, or the apps that they are staff of, do not allow it.
    package static let forbidden = ProblemCode(.forbidden, "forbidden", "Not allowed")
    /// No catalog was applied.
    static let noCatalog = ProblemCode(.conflict, "no_catalog", "No catalog was applied yet")
    /// The catalog has no such tier.
    static let unknownTier = ProblemCode(.badRequest, "unknown_tier", "The tier is not known")
    /// Everybody has the tier.
    static let lowestTier = ProblemCode(.conflict, "lowest_tier", "Everybody has the tier")
    /// Nothing gives the account access.
    static let noAccess = ProblemCode(.conflict, "no_access", "Nothing gives access")
    /// What gives access has no end.
    static let noEnd = ProblemCode(.conflict, "no_end", "Access has no end")
    /// There is nothing to revoke.
    static let nothingThere = ProblemCode(.conflict, "nothing_there", "Nothing is there to revoke")
    /// No block stands.
    static let notRevoked = ProblemCode(.conflict, "not_revoked", "No block stands")
    /// The account has no subscription of Apple's that runs.
    static let noSubscription = ProblemCode(.conflict, "no_subscription", "No subscription to extend")
    /// An extension of the same subscription is not finished.
    static let extensionUnderWay = ProblemCode(.conflict, "extension_under_way", "An extension is under way")
    /// An extension is finished, and cannot be given up.
    static let extensionFinished = ProblemCode(.conflict, "extension_finished", "The extension is finished")
    /// The file cannot be used as a catalog.
    static let catalogUnusable = ProblemCode(
        .unprocessableContent, "catalog_unusable", "The catalog cannot be used")
    /// Another catalog is being applied by now.
    static let catalogSuperseded = ProblemCode(.conflict, "catalog_superseded", "Another catalog is being applied")
    /// A transaction stood in the way of a catalog.
    static let catalogHeldUp = ProblemCode(.conflict, "catalog_held_up", "A transaction stands in the way")

    /// There is no figure of this name.
    static let noFigure = ProblemCode(.notFound, "figure_not_found", "There is no such figure")
    /// A narrower question is answered.
    static let tooManyCells = ProblemCode(.badRequest, "too_many_cells", "The answer has too many values")

    /// All that an act for an account may be refused by.
    static let acts: [ProblemCode] = [
        .notFound, .noCatalog, .unknownTier, .lowestTier, .noAccess, .noEnd, .nothingThere, .notRevoked,
    ]
}

extension ActRefusal {
    /// The problem that it is.
    var problem: APIProblem {
        switch self {
        case .noCatalog: APIProblem(.noCatalog, ProblemText(english: "\(self)"))
        case .unknownTier(_, let known):
            APIProblem(.unknownTier, ProblemText(english: "the catalog has the tiers \(known.joined(separator: ", "))"))
        case .lowestTier: APIProblem(.lowestTier, "everybody has the lowest tier; name a higher one")
        case .noAccess: APIProblem(.noAccess, ProblemText(english: "\(self)"))
        case .noEnd: APIProblem(.noEnd, ProblemText(english: "\(self)"))
        case .nothingThere: APIProblem(.nothingThere, ProblemText(english: "\(self)"))
        case .notRevoked: APIProblem(.notRevoked, ProblemText(english: "\(self)"))
        }
    }
}

extension RenewalExtensions.Conflict {
    /// The problem that it is.
    var problem: APIProblem {
        switch self {
        case .nameTaken(let id), .underWay(let id), .overlaps(let id):
            APIProblem(
                .extensionUnderWay,
                ProblemText(
                    english:
                        "extension \(id) of the same subscription is not finished: wait for its end; storehook extensions show \(id)"
                ), members: [.init("extension", .integer(id))])
        }
    }
}

extension ApplyRefusal {
    /// The problem that it is. What it names of another transaction is for people with the database at hand.
    var problem: APIProblem {
        switch self {
        case .superseded: APIProblem(.catalogSuperseded, ProblemText(english: "\(self)"))
        case .heldUp(let seconds, let holder):
            APIProblem(
                .catalogHeldUp,
                ProblemText(
                    english:
                        "a transaction that changes purchases or accounts has stood in the way for \(seconds) seconds, so that nothing was changed"
                ), log: holder.map { ["transaction": "\($0)"] } ?? [:])
        }
    }
}
